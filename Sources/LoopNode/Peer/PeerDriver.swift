import LoopCluster
import LoopCollections
import LoopCore
import LoopWire

/// Joins a peer machine to the effects and senders of its process; the sockets are somebody else's. One thread's own.
struct PeerDriver {
    var machine: PeerMachine
    let gate: OutboxGate
    private let runner: (any EffectRunner)?
    private var bodies = HashTable<EffectID, EffectBody>()
    private let pool: BodyPool
    /// Who runs the effects of a feedback, by its number, as long as that stands for the same name.
    private var workshops = HashTable<UInt32, (name: String?, workshop: Workshop)>()
    /// Those that this turn was granted.
    private var granted: [EffectBody] = []
    /// What is to be done when the turn is over.
    private var after: Aftermath
    /// Who waits for the outcome of which entry.
    private var confirmations: [UInt64: UInt64] = [:]
    private var posted = PostedEntries()
    private(set) var refusedCount: UInt64 = 0

    // Of a sender that outlives its process.
    private let outbox: OutboxFile?
    private let leftOver: LeftOverBook?
    private var loopName: String
    /// Who waits for entries to be on disk, that will be with the next commit.
    private var unkept: [UInt64] = []

    init(
        configuration: PeerConfiguration, continuing stream: PeerStream? = nil, runner: (any EffectRunner)?,
        gate: OutboxGate,
        pool: BodyPool = BodyPool(runnersMax: SystemInfo.processorsCount), at now: MonotonicTime
    ) {
        self.pool = pool
        machine =
            stream.map { PeerMachine(configuration: configuration, continuing: $0, at: now) }
            ?? PeerMachine(configuration: configuration, at: now)
        outbox = nil
        leftOver = nil
        loopName = configuration.loop
        self.runner = runner
        self.gate = gate
        after = Aftermath(gate: gate)
    }

    /// A sender that goes on with what its file holds, and runs no effects.
    init(
        configuration: PeerConfiguration, resuming stream: PeerStream, of outbox: OutboxFile, leftOver: LeftOverBook,
        gate: OutboxGate, at now: MonotonicTime
    ) {
        machine = PeerMachine(configuration: configuration, resuming: stream, at: now)
        pool = BodyPool(runnersMax: 1)
        self.outbox = outbox
        self.leftOver = leftOver
        loopName = configuration.loop
        runner = nil
        self.gate = gate
        after = Aftermath(gate: gate)
    }

    var runningCount: Int { bodies.count }

    mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        machine.receivePublished(frame, at: now)
    }

    mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) { machine.receiveReply(frame, at: now) }

    mutating func stop(at now: MonotonicTime) { machine.stop(at: now) }

    mutating func hasConnected() { machine.hasConnected() }

    /// What the last turn leads to in this process, where it wakes other threads.
    mutating func takeAftermath() -> Aftermath? {
        if after.isEmpty { return nil }
        defer { after = Aftermath(gate: gate) }
        return after
    }

    /// Senders that are to hear what became of their events. They may come at once with the next one: it is done when
    /// nothing else is to be done.
    struct Aftermath: Sendable {
        fileprivate let gate: OutboxGate
        fileprivate var outcomes: [(waiter: UInt64, outcome: Result<Seq, SendRefusal>)] = []
        /// Nothing is accepted any more, for this reason.
        fileprivate var close: (refusal: SendRefusal, mayBeApplied: Bool)?

        fileprivate var isEmpty: Bool { outcomes.isEmpty && close == nil }

        consuming func happen() {
            for (waiter, outcome) in outcomes { gate.resolve(waiter, outcome) }
            if let close { gate.close(close.refusal, mayBeApplied: close.mayBeApplied) }
        }
    }

    /// Whether entries may have left whose outcomes are not known.
    var hasOffered: Bool { machine.outbox.offered > machine.outbox.settled }

    /// Nothing that was sent is under way, and nothing else is left to be done.
    var isQuiet: Bool { machine.isJoined && machine.outbox.isEmpty && isContent }

    /// Nothing is left to be done but to push.
    var isContent: Bool { !machine.hasActions && after.isEmpty }

    mutating func nextBatch() -> Batch? { machine.nextBatch() }

    mutating func couldNotPush(_ batch: Batch) { machine.couldNotPush(batch) }

    /// Takes what the process has left for this peer.
    /// - Parameter isSignalled: whether the gate's descriptor may be readable.
    mutating func takePosted(at now: MonotonicTime, isSignalled: Bool = true) {
        gate.take(into: &posted, isSignalled: isSignalled)
        let posted = posted
        if posted.run.isEmpty {
            // Nothing new; but the outbox may hold less than before.
        } else if let first = machine.take(posted.run) {
            // Plain events: whoever waits for one waits until it is on disk.
            for (index, waiter) in posted.waiters { note(waiter, of: first + UInt64(index)) }
        } else {
            take(posted.run, posted.waiters[...])
        }
        if posted.isStop { machine.stop(at: now) }
        gate.report(posted, outboxCount: machine.outbox.count, outboxBytes: machine.outbox.byteCount)
    }

    private mutating func take(_ run: EntryRun, _ waiting: ArraySlice<(index: Int, waiter: EventWaiter)>) {
        var waiting = waiting
        var index = run.startIndex
        while index < run.endIndex {
            let first = machine.lastNumber + 1
            let start = index
            index += machine.take(run, from: start) { bodies.end($0, $1) }
            while let next = waiting.first, next.index < index {
                note(next.waiter, of: first + UInt64(next.index - start))
                waiting.removeFirst()
            }
            guard index < run.endIndex else { return }
            take(run[index], waiting.first?.index == index ? waiting.removeFirst().waiter : nil)
            index += 1
        }
    }

    private mutating func take(_ entry: Entry, _ waiter: EventWaiter?) {
        guard entry.kind == .event else { return end(entry) }
        let effect = entry.effect.map { (id: $0, attempt: entry.attempt) }
        switch machine.send(entry.payload, of: effect, wantsSeq: entry.wantsSeq, isLast: entry.isLast) {
        case .accepted(let number):
            note(waiter, of: number)
            if entry.isLast, let effect { bodies.end(effect.id, effect.attempt) }
            return
        // The gate lets in no more than the outbox holds.
        case .full: refuse(waiter?.ticket, SendRefusal(.overloaded))
        case .refused(let refusal): refuse(waiter?.ticket, refusal)
        }
        // Its body has ended nevertheless.
        if entry.isLast { end(entry) }
    }

    private mutating func end(_ entry: Entry) {
        guard let effect = entry.effect else { return }
        let failure = entry.kind == .failed ? try? Failure(bytes: entry.payload) : nil
        machine.effectEnded(effect, entry.attempt, failure: failure)
        bodies.end(effect, entry.attempt)
    }

    private mutating func note(_ waiter: EventWaiter?, of number: UInt64) {
        switch waiter {
        case .outcome(let ticket): confirmations[number] = ticket
        case .kept(let ticket): unkept.append(ticket)
        case nil: break
        }
    }

    private mutating func refuse(_ waiter: UInt64?, _ refusal: SendRefusal) {
        refusedCount += 1
        if let waiter { after.outcomes.append((waiter, .failure(refusal))) }
    }

    /// Takes notice of time, does what concerns this process, and returns what concerns the sockets.
    mutating func turn(at now: MonotonicTime) -> [PeerAction] {
        machine.advance(to: now)
        var rest: [PeerAction] = []
        var actions = machine.takeActions()
        actions.reverse()
        // Each is taken out, so that its grant is not held twice.
        while let action = actions.popLast() {
            if case .run(let grant) = action {
                run(grant)
            } else if !handle(action) {
                rest.append(action)
            }
        }
        if !granted.isEmpty {
            pool.post(granted)
            granted.removeAll(keepingCapacity: true)
        }
        leftOver?.settle(upTo: machine.settledNumber)
        return rest
    }

    /// Puts on disk what must be there before anything is sent. After each turn, before its actions are done.
    mutating func keep(at now: MonotonicTime, isLast: Bool = false) throws(OutboxError) {
        guard let outbox else { return }
        try outbox.commit(machine, loop: loopName, at: now, isLast: isLast)
        machine.kept(settled: outbox.head.settled)
        for ticket in unkept { after.outcomes.append((ticket, .success(.initial))) }
        unkept.removeAll(keepingCapacity: true)
    }

    private mutating func handle(_ action: PeerAction) -> Bool {
        switch action {
        case .run(let grant): run(grant)
        case .update(let effect, let attempt, let request):
            if let body = bodies[effect], body.grant.attempt == attempt { body.update(request) }
        case .stop(let effect, let attempt):
            if let body = bodies[effect], body.grant.attempt == attempt {
                bodies[effect] = nil
                body.cancel()
            }
        case .settled(let number, let outcome): settle(number, outcome)
        case .hasRoom: break
        case .loopEnded, .finished:
            // The machine has told the outcome of all that left: what still waits has not.
            after.close = (SendRefusal(.ended), mayBeApplied: false)
            return false
        case .refused(let refused):
            after.close = (SendRefusal(.ended, detail: refused.description), mayBeApplied: hasOffered)
            return false
        case .connect(let introduction):
            loopName = introduction.name
            return false
        case .send, .rebuildPush, .keptWaiting: return false
        }
        return true
    }

    private mutating func run(_ grant: Grant) {
        guard let runner else {
            machine.effectEnded(
                grant.effect, grant.attempt, failure: Failure(message: "this node runs no effects", isFinal: false))
            return
        }
        let body = EffectBody(grant, workshop(of: grant.effect, runner))
        bodies.updateValue(body, forKey: grant.effect)
        granted.append(body)
    }

    private mutating func workshop(of effect: EffectID, _ effects: any EffectRunner) -> Workshop {
        let name = machine.feedbackName(of: effect)
        let place = workshops.find(effect.feedback, UInt64(effect.feedback))
        if let place, workshops[at: place].name == name, workshops[at: place].workshop.history == machine.history {
            return workshops[at: place].workshop
        }
        let workshop = Workshop(
            runner: effects.runner(of: name), history: machine.history, gate: gate, pool: pool)
        if let place {
            workshops[at: place] = (name, workshop)
        } else {
            workshops.insert(effect.feedback, (name, workshop), UInt64(effect.feedback))
        }
        return workshop
    }

    private mutating func settle(_ number: UInt64, _ outcome: EntryOutcome) {
        let waiter = confirmations.removeValue(forKey: number)
        leftOver?.settle(number, LeftOver.Outcome(outcome))
        switch outcome {
        case .applied(let seq):
            if let waiter { after.outcomes.append((waiter, .success(seq))) }
        case .refused(let reason):
            refuse(waiter, SendRefusal(reason))
        }
    }

    /// Events that were accepted, whose outcome is not known, and for which nobody waits. The last question of a life: what
    /// senders have left since the last turn is taken for it.
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

    /// Cancels every body that still runs.
    mutating func cancelBodies() {
        for (_, body) in bodies { body.cancel() }
        bodies.removeAll()
    }
}

extension HashTable<EffectID, EffectBody> {
    /// An attempt has ended: nobody asks for its body any more.
    fileprivate mutating func end(_ effect: EffectID, _ attempt: Attempt) {
        if let place = index(forKey: effect), self[at: place].grant.attempt == attempt {
            remove(at: place, effect.mixed)
        }
    }
}

extension LeftOver.Outcome {
    fileprivate init(_ outcome: EntryOutcome) {
        self =
            switch outcome {
            case .applied(let seq): .applied(seq == .initial ? nil : seq)
            case .refused(let reason): .refused(SendRefusal(reason))
            }
    }
}
