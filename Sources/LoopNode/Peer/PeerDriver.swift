import LoopCluster
import LoopCollections
import LoopCore
import LoopWire

/// Joins a peer machine to the effects and senders of its process. The caller owns the sockets. One thread uses it.
struct PeerDriver {
    var machine: PeerMachine
    let gate: OutboxGate
    private let effects: DefinitionEffects?
    private var bodies = HashTable<EffectID, EffectBody>()
    /// The bodies to start at the end of this turn.
    private var granted: [EffectBody] = []
    private var posted = PostedEntries()
    private var pool = PoolWatch()
    /// What is shown of the peer's health, or nil if nothing is.
    private let board: PeerBoard?
    /// The ticket of the sender that waits for the outcome of an entry, by the entry's number.
    private var confirmations = HashTable<UInt64, UInt64>()
    /// Entries without a known outcome that were taken together: the number of the last one, how many they are, and when that was.
    private var underWay: [(last: UInt64, count: UInt64, takenAt: MonotonicTime)] = []
    /// The entries without a known outcome whose spans are recorded, by ascending numbers.
    private var traced: [(number: UInt64, trace: TraceContext)] = []
    /// The results for waiting senders, which they get at the end of the turn.
    private var results: [(ticket: UInt64, result: Result<Settlement, SendRefusal>)] = []
    /// Why nothing is accepted any more from the end of the turn on.
    private var closing: (refusal: SendRefusal, mayBeApplied: Bool)?
    /// When the process asked the peer to stop.
    private(set) var stoppedAt: MonotonicTime?

    // For a sender with an outbox file.
    private let outbox: OutboxFile?
    private let recovered: RecoveredEvents?
    private var loopName: String
    /// The tickets of senders whose events will be on disk with the next commit.
    private var unkept: [UInt64] = []

    init(
        configuration: PeerConfiguration, continuing stream: PeerStream? = nil, effects: DefinitionEffects?,
        gate: OutboxGate, board: PeerBoard? = nil, at now: MonotonicTime
    ) {
        self.board = board
        machine =
            stream.map { PeerMachine(configuration: configuration, continuing: $0, at: now) }
            ?? PeerMachine(configuration: configuration, at: now)
        outbox = nil
        recovered = nil
        loopName = configuration.loop
        self.effects = effects
        self.gate = gate
    }

    /// Creates a sender that continues with the contents of its outbox file, and runs no effects.
    init(
        configuration: PeerConfiguration, resuming stream: PeerStream, of outbox: OutboxFile,
        recovered: RecoveredEvents,
        gate: OutboxGate, at now: MonotonicTime
    ) {
        board = nil
        machine = PeerMachine(configuration: configuration, resuming: stream, at: now)
        self.outbox = outbox
        self.recovered = recovered
        loopName = configuration.loop
        effects = nil
        self.gate = gate
    }

    /// Whether entries with unknown outcomes may have left.
    var hasOffered: Bool { machine.outbox.offered > machine.outbox.settled }

    /// How many bodies of effects run.
    var runningCount: Int { bodies.count }

    /// The entries that were accepted and are not settled.
    var unconfirmed: UnconfirmedEntries { UnconfirmedEntries(machine.outbox.unsettled.map(\.entry)) }

    /// Takes what the process has posted for this peer.
    /// - Parameter isSignalled: whether the gate's descriptor may be readable.
    mutating func takePosted(at now: MonotonicTime, isSignalled: Bool = true, _ log: NodeLog) {
        gate.take(into: &posted, isSignalled: isSignalled)
        if let board { countEnds(on: board) }
        let last = machine.lastNumber
        let acceptance = machine.accept(posted.run)
        if board != nil, machine.lastNumber > last {
            underWay.append((machine.lastNumber, machine.lastNumber - last, now))
        }
        if let tracer = gate.tracer { noteTraced(acceptance, tracer, at: now) }
        for (effect, attempt) in acceptance.ended { forget(effect, attempt, at: now) }
        for (_, progress) in posted.progress { machine.report(progress) }
        for (index, ticket) in posted.waiters {
            switch acceptance[index] {
            case .success(let number) where posted.run[index].wantsSeq: confirmations[number] = ticket
            case .success: unkept.append(ticket)
            case .failure(let refusal): results.append((ticket, .failure(refusal)))
            }
        }
        for (index, refusal) in acceptance.refused
        where refusal.reason == .tooLarge && !posted.waiters.contains(where: { $0.index == index }) {
            // Its sender does not wait, and no record will show it.
            log.once(.undecodable, "an event was not sent, and is lost: \(refusal)", [.reason("\(refusal)")])
        }
        if posted.isStop {
            stoppedAt = stoppedAt ?? now
            machine.stop(at: now)
        }
        let outbox = machine.outbox
        gate.report(outboxCount: outbox.count, outboxBytes: outbox.byteCount)
    }

    /// Takes note of the posted entries that are in a trace, and ends the spans of the attempts whose ends were posted.
    private mutating func noteTraced(_ acceptance: Acceptance, _ tracer: Tracer, at now: MonotonicTime) {
        guard !posted.run.isPlain else { return }
        for index in posted.run.indices {
            let head = posted.run.head(at: index)
            if let trace = posted.run.trace(of: head) {
                switch acceptance[index] {
                case .success(let number): traced.append((number, trace))
                case .failure(let refusal): tracer.endSend(trace, refusal: refusal.reason)
                }
            }
            guard head.endsTheBody, let effect = head.effectIfAny, let body = bodies[effect],
                body.grant.attempt == head.attempt
            else { continue }
            record(body, tracer, at: now, outcome: PeerBoard.outcome(of: head.kind))
        }
    }

    /// Records the span of an attempt that has ended.
    private func record(_ body: EffectBody, _ tracer: Tracer, at now: MonotonicTime, outcome: String) {
        guard let trace = body.trace else { return }
        tracer.record(
            TraceSpan(
                attempt: body.grant, machine.feedbackName(of: body.grant.effect) ?? "", in: trace, of: loopName,
                began: body.grantedAt, ended: now, outcome: outcome))
    }

    /// Ends the spans of the entries whose outcomes are known.
    private mutating func endTraced() {
        guard let tracer = gate.tracer, !traced.isEmpty else { return }
        let settled = traced.prefix { $0.number <= machine.settledNumber }
        for (_, trace) in settled { tracer.endSend(trace) }
        traced.removeFirst(settled.count)
    }

    /// Ends the span of an entry, if it has one.
    private mutating func endTraced(_ number: UInt64, _ outcome: EntryOutcome) {
        guard let tracer = gate.tracer, let index = traced.firstIndex(where: { $0.number == number }) else { return }
        let trace = traced.remove(at: index).trace
        switch outcome {
        case .applied(let seq): tracer.endSend(trace, seq: seq)
        case .refused(let reason): tracer.endSend(trace, refusal: reason)
        }
    }

    /// Counts the attempts whose ends were posted.
    private func countEnds(on board: PeerBoard) {
        for entry in posted.run where entry.kind != .event || entry.isLast {
            let ended = PeerBoard.Ended(
                feedback: entry.effect.flatMap { machine.feedbackName(of: $0) } ?? "",
                outcome: PeerBoard.outcome(of: entry.kind))
            board.note { $0.attempts[ended, default: 0] += 1 }
        }
    }

    /// Removes the body of an attempt that has ended or is stopped, and notes how long it took.
    /// - Returns: the body, or nil if it is of another attempt.
    @discardableResult
    private mutating func forget(_ effect: EffectID, _ attempt: Attempt, at now: MonotonicTime) -> EffectBody? {
        guard let body = bodies[effect], body.grant.attempt == attempt else { return nil }
        bodies[effect] = nil
        if let board {
            let feedback = machine.feedbackName(of: effect) ?? ""
            board.note { $0.runs[feedback, default: Histogram()].note(from: body.grantedAt, to: now) }
        }
        return body
    }

    /// Advances the machine, performs the actions that concern this process, and returns those that concern the sockets.
    mutating func turn(at now: MonotonicTime, _ log: NodeLog) -> [PeerAction] {
        machine.advance(to: now)
        let rest = machine.takeActions().filter { !handle($0, at: now, log) }
        if !granted.isEmpty {
            effects?.start(granted)
            granted = []
        }
        recovered?.settle(upTo: machine.settledNumber)
        noteSettled(at: now)
        endTraced()
        return rest
    }

    /// Notes how long it took until the outcomes of entries were known.
    private mutating func noteSettled(at now: MonotonicTime) {
        let settled = underWay.prefix { $0.last <= machine.settledNumber }
        guard let board, !settled.isEmpty else { return }
        board.note { for run in settled { $0.sends.note(from: run.takenAt, to: now, times: run.count) } }
        underWay.removeFirst(settled.count)
    }

    /// Writes to disk what must be there before anything is sent. Called after each turn, before its actions are performed.
    mutating func keep(at now: MonotonicTime, isLast: Bool = false) throws(OutboxError) {
        guard let outbox else { return }
        try outbox.commit(machine, loop: loopName, at: now, isLast: isLast)
        machine.kept(settled: outbox.head.settled)
        for ticket in unkept { results.append((ticket, .success(.accepted))) }
        unkept.removeAll(keepingCapacity: true)
    }

    /// Gives senders their results. Called when everything that the turn relies on is on disk.
    mutating func tellSenders() {
        if !results.isEmpty {
            gate.resolve(results)
            results.removeAll(keepingCapacity: true)
        }
        if let closing = closing.take() { gate.close(closing.refusal, mayBeApplied: closing.mayBeApplied) }
    }

    private mutating func handle(_ action: PeerAction, at now: MonotonicTime, _ log: NodeLog) -> Bool {
        switch action {
        case .run(let grant): run(grant, at: now, log)
        case .update(let effect, let attempt, let request):
            if let body = bodies[effect], body.grant.attempt == attempt { body.update(request) }
        case .stop(let effect, let attempt):
            guard let body = forget(effect, attempt, at: now) else { break }
            if let tracer = gate.tracer {
                record(body, tracer, at: now, outcome: stoppedAt == nil ? "stopped" : "released")
            }
            body.cancel()
        case .settled(let number, let outcome, let detail): settle(number, outcome, detail: detail)
        case .answered(let number, let seq, let answer): settle(number, .applied(seq), answer)
        case .hasSpace: break
        case .loopEnded, .finished:
            // The machine has reported the outcome of everything that left, so whatever still waits was not sent.
            closing = (SendRefusal(.ended), mayBeApplied: false)
            return false
        case .refused(let refused):
            closing = (SendRefusal(.ended, detail: refused.description), mayBeApplied: hasOffered)
            return false
        case .connect(let introduction):
            loopName = introduction.name
            return false
        case .send, .dial, .redial, .lookUp, .rebuildPush, .keptWaiting: return false
        }
        return true
    }

    private mutating func run(_ grant: Grant, at now: MonotonicTime, _ log: NodeLog) {
        let name = machine.feedbackName(of: grant.effect)
        guard let feedback = effects?[name] else {
            // A reducer grants only what a peer has offered. Anything else is handed back.
            let text =
                "the reducer has granted an effect of \"\(name ?? "")\", which this worker has not offered: it is handed back"
            log.once(.unserved, of: name ?? "", text, [.feedback(name ?? "")])
            return machine.handBack(grant.effect, grant.attempt)
        }
        let body = EffectBody(grant, feedback, in: machine.history, to: gate, at: now)
        bodies.updateValue(body, forKey: grant.effect)
        granted.append(body)
    }

    private mutating func settle(
        _ number: UInt64, _ outcome: EntryOutcome, _ answer: EntryAnswer? = nil, detail: String = ""
    ) {
        recovered?.settle(number, RecoveredEvent.Outcome(outcome, detail))
        endTraced(number, outcome)
        guard let ticket = confirmations.removeValue(forKey: number) else { return }
        switch outcome {
        case .applied(let seq):
            let state = StateID(history: machine.history, epoch: machine.epoch, seq: seq)
            results.append((ticket, .success(Settlement(state: state, answer: answer))))
        case .refused(let reason): results.append((ticket, .failure(SendRefusal(reason, detail: detail))))
        }
    }

    /// Events that were accepted, have no known outcome, and for which no caller waits. This is the last call: it takes what
    /// senders have posted since the last turn.
    mutating func unsettled() -> UnsettledEvents {
        var events = UnsettledEvents()
        let outbox = machine.outbox
        for (number, entry) in outbox.unsettled where entry.kind == .event {
            guard confirmations[outbox.base + number] == nil else { continue }
            events.add(entry.payload, isSent: number <= outbox.offered)
        }
        gate.take(into: &posted, isSignalled: false)
        let waitedFor = Set(posted.waiters.map(\.index))
        for (index, entry) in posted.run.enumerated() where entry.kind == .event && !waitedFor.contains(index) {
            events.add(entry.payload, isSent: false)
        }
        return events
    }

    /// Logs, once for each blockage, that bodies of effects occupy every thread of Swift's pool. The feedbacks that it names are proven
    /// to be the cause if bodies that have never waited take every thread.
    mutating func watchPool(at now: MonotonicTime, _ log: NodeLog) {
        guard effects?.arePooled ?? false else { return }
        let threadsCount = SystemInfo.processorsCount
        guard pool.isBlocked(at: now, mayBeBlocked: bodies.count >= threadsCount) else { return }
        let begun = bodies.map(\.value).filter { $0.hasNotWaited != nil }
        let busy = begun.filter { $0.hasNotWaited ?? false }
        let areProven = busy.count >= threadsCount
        let names = Set((areProven ? busy : begun).compactMap { machine.feedbackName(of: $0.grant.effect) }).sorted()
        let feedbacks = names.map { "\"\($0)\"" }.joined(separator: ", ")
        let cause =
            if names.isEmpty {
                "other code of this process blocks them, or computes without a pause, and no effect can begin"
            } else if areProven {
                "bodies of \(feedbacks) block their threads, or compute without a pause"
            } else {
                "other code of this process, or bodies of \(feedbacks), block their threads or compute without a pause"
            }
        log.note(
            .poolBlocked,
            "no thread of Swift's pool has been free for \(PoolWatch.limit.text): \(cause); run such work on a thread of its own,"
                + " and await its result",
            names.map { .feedback($0) } + [.duration(PoolWatch.limit)])
    }

    /// Cancels every body that still runs.
    mutating func cancelBodies() {
        for (_, body) in bodies { body.cancel() }
        bodies.removeAll()
    }
}

extension RecoveredEvent.Outcome {
    fileprivate init(_ outcome: EntryOutcome, _ detail: String) {
        self =
            switch outcome {
            case .applied(let seq): .applied(seq == .initial ? nil : seq)
            case .refused(let reason): .refused(SendRefusal(reason, detail: detail))
            }
    }
}
