import CBOR
import LoopCluster
import LoopCore
import LoopKeys
internal import LoopCollections
import LoopWire

/// A reducer machine, its journal, and the worker of its own process. When the journal fails, all of it is discarded and built
/// again from the journal.
final class ReducerService<Definition: LoopDefinition> {
    private let definition: Definition
    private(set) var machine: ReducerMachine
    private(set) var journal: any Journal
    private(set) var local: LocalPeer?
    private var snapshots: SnapshotKeeper
    private let queries: JournalQueries
    private let lookout: Lookout?
    private let meter: ReducerMeter?
    private let tracer: Tracer?
    var log: NodeLog
    private let killSwitch: KillSwitch?
    private let post: @Sendable (ReducerMail) -> Void
    private var flushedAt: MonotonicTime
    private var pace = TurnPace()
    private var overlap = TurnOverlap()
    /// Turns that wait for their receipts, in order.
    private var waiting: [WaitingTurn] = []
    private let standstill: Duration
    private var stop: Standstill
    /// Whether the epoch's first records are in the journal. Before that no other turn begins.
    private var hasBegun = false
    /// When the next turn is due if nothing arrives.
    private var nextTurn = MonotonicTime.zero
    /// How many lost lines of the process's log were reported to the machine.
    private var droppedLinesCount: UInt64 = 0
    /// The admitted keys, if the machine does not know them yet.
    private var newKeys: AllowedKeys?
    /// The peers that listened before the machine existed, for its first turn.
    private var earlyListeners: Set<PeerID>
    /// For the machine's next turn.
    private var mail: [Letter] = []
    /// A sentence about what the state was recovered from, or nil if the journal was empty.
    let recovered: String?
    /// The records that had vanished when this process began to lead, or nil if none had.
    var vanished: VanishedRecords?
    /// An operator's request to let another reducer lead, if there is one.
    private(set) var stepDownRequest: JournalRequest?

    private static var flushInterval: Duration { .milliseconds(200) }

    /// Recovers the machine from the journal, and begins an epoch.
    /// - Parameters:
    ///   - journal: the journal, which is open.
    ///   - warm: the state that a standby has followed in the journal.
    ///   - decodesAhead: whether other threads may decode what is replayed. False after a crash, so that the crash note names
    ///     the event if the process ends again.
    /// - Throws: `RecoveryError.stopped` if the replay was stopped.
    init(
        _ host: ReducerHost<Definition>, _ journal: any Journal,
        warm: consuming WarmState?, note: CrashNote?, decodesAhead: Bool, log: NodeLog
    ) throws {
        let (definition, configuration, keys) = (host.definition, host.configuration, host.ring?.allowed)
        let isStopping = host.whileRecovering(journal)
        let now = SystemClock.now
        let coder = CBORCoder()
        var journal = journal
        func recover(_ warm: consuming WarmState?) throws -> Recovery {
            let reader = ReplayReader<Definition.Event>(journal, coder: coder)
            return try Recovery(
                definition, from: journal, coder: coder, reinterprets: configuration.reinterprets,
                note: note,
                warm: warm.take(), isStopped: isStopping, pages: decodesAhead ? { try reader.page(after: $0) } : nil)
        }
        let recovery: Recovery
        let isWarm = warm != nil
        do {
            recovery = try recover(warm.take())
        } catch let error as RecoveryError where isWarm && error != .stopped {
            // An error of a state in memory does not prove an error of the journal.
            log.note(.snapshotFailed, "the warm state cannot be used: \(error)", [.reason("\(error)")])
            recovery = try recover(nil)
        }
        if isStopping() { throw RecoveryError.stopped }
        if !recovery.notes.isEmpty { try journal.prove() }
        for note in recovery.notes { log.note(.snapshotFailed, note, [.reason(note)]) }
        standstill = TurnOverlap.standstill(silenceLimit: configuration.machine.silenceLimit)
        var stop = Standstill(host.report, limit: standstill, obstacle: host.obstacle, keys: keys)
        if !recovery.lacking.isEmpty {
            // This process has the term, and these records follow the journal's last one.
            let began = SystemClock.monotonic
            _ = try journal.beginAppend(RecordLog(recovery.lacking), through: recovery.journaled.position)
            while try stop.receipt(of: &journal, begunAt: began, &host.sockets, &mail) != nil {}
        }
        self.stop = stop
        var setting = ReducerSetting()
        setting.publisher = host.sockets.publisherAddress
        setting.collector = host.sockets.collectorAddress
        let standsBy = configuration.succession == .standby
        setting.searchLimit = standsBy ? LeaderSearch.walkMax : .zero
        setting.mayStepDown = standsBy && configuration.journal.read != nil
        setting.advertised = host.address
        setting.processBegan = SystemClock.processBegan
        setting.isGuarded = keys != nil
        setting.isOpenToAll = keys == nil && !configuration.bind.endpoint.isLocal
        setting.timeZones = try SystemZones.read(
            for: definition.allFeedbacks.compactMap { feedback in
                feedback.schedule.map { (feedback.name, $0.schedule) }
            })
        newKeys = keys
        machine = ReducerMachine(
            recovery, configuration: configuration.machine, setting: setting, seed: SystemRandom.uint64(),
            nonce: SystemRandom.uint64(), at: SystemClock.now)
        self.stop.report.note(recovery.journaled.seq, machine.history, machine.epoch)
        if journal.position > 0 {
            let duration = SystemClock.monotonic - now.monotonic
            let text =
                "recovered seq \(machine.seq) from \(Self.beginning(of: recovery)) and \(recovery.recordsCount) records"
                + (recovery.lacking.isEmpty ? "" : ", and appended \(recovery.lacking.count) that had no receipt,")
                + " in \(duration.wholeMilliseconds) ms"
            recovered = text
            host.meter?.note { $0.recoveryDuration = duration }
            log.note(
                .recovered, text, [.seq(machine.seq), .records(recovery.recordsCount), .duration(duration)])
        } else {
            recovered = nil
        }
        if definition.allFeedbacks.contains(where: { $0.placement == .local && $0.makeQuery != nil }) {
            local = try LocalPeer(
                definition, capacity: configuration.localCapacity, fingerprint: machine.fingerprintValue,
                continuing: machine.localStream, tracer: configuration.tracer, at: now.monotonic)
        }
        self.definition = definition
        self.journal = journal
        earlyListeners = host.takeEarlyListeners()
        self.log = log
        let post: @Sendable (ReducerMail) -> Void = { [mailbox = host.mailbox] in mailbox.post($0) }
        self.post = post
        killSwitch = configuration.killSwitch
        flushedAt = now.monotonic
        snapshots = SnapshotKeeper(
            opening: machine.epoch.nonce, every: configuration.snapshotInterval, newest: recovery.snapshot,
            isDue: recovery.journaled.hasReinterpreted,
            writer: journal.snapshotWriter, post: post)
        lookout = host.lookout
        lookout?.forget()
        meter = host.meter
        tracer = configuration.tracer
        queries = JournalQueries(definition, read: configuration.journal.read, post: post)
    }

    /// Compares what this process has followed with its journal.
    /// - Returns: the records that have vanished, or nil if everything followed is there.
    func compare(_ followed: [FollowedEnd?]) throws(JournalError) -> VanishedRecords? {
        for end in followed {
            guard let end,
                let vanished = try VanishedRecords(
                    end, in: journal, seq: machine.seq, history: machine.history, at: SystemClock.now)
            else { continue }
            log.note(.journal, "\(vanished)", level: .error)
            return vanished
        }
        return nil
    }

    private static func beginning(of recovery: Recovery) -> String {
        if let seq = recovery.warmSeq { return "a warm state at seq \(seq)" }
        return recovery.snapshot.map { "a snapshot at seq \($0.seq)" } ?? "the first record"
    }

    /// Releases the turns whose receipts have come. Then, unless only receipts have come, drains the sockets into the machine,
    /// advances its time, and makes the records durable. Messages that depend on them are sent now or by a later call.
    /// - Throws: `JournalError` if records could not be made durable: then nothing was sent that depends on them, and this
    ///   service is unusable. `NodeKilled`, or an error of the sockets.
    func turn(_ sockets: inout ReducerSockets) throws -> TurnEnd {
        let hasWaited = !waiting.isEmpty
        try takeReceipts(&sockets)
        // Every event that was applied has its receipt.
        if waiting.isEmpty { stop.report.seq = machine.seq.value }
        var end = TurnEnd(deadline: nextTurn)
        if !hasWaited || isTurnDue(sockets) {
            try stop.connection(of: journal, &sockets, &mail)
            end = try takeTurn(&sockets)
        }
        nextTurn = end.deadline
        sockets.watch(journal: waiting.isEmpty ? nil : journal.receiptDescriptor)
        if let oldest = waiting.first { end.deadline = min(end.deadline, oldest.begunAt + standstill) }
        end.hasWork = local?.hasWork ?? false || !mail.isEmpty
        return end
    }

    private func isTurnDue(_ sockets: borrowing ReducerSockets) -> Bool {
        sockets.hasNews || SystemClock.monotonic >= nextTurn || !mail.isEmpty || newKeys != nil
            || local?.hasWork ?? false
    }

    private func takeTurn(_ sockets: inout ReducerSockets) throws -> TurnEnd {
        let arrived = SystemClock.now
        var now = arrived
        let ready = try machine.turn(at: arrived) {
            [droppedLines = newlyDroppedLines(), mail = takeMail(), lookout = lookout, log = log] intake in
            intake.count(.droppedLogLine, droppedLines)
            if let keys = newKeys.take() { intake.admit(keys) }
            for letter in mail { letter.read(by: &intake) }
            try sockets.drainControl(for: pace.drainDuration) { request, route, principal, foreignVersion in
                if let foreignVersion { intake.refuse(protocolVersion: foreignVersion, route) }
                if let request { intake.receive(request, from: route, by: principal) }
            }
            for peer in earlyListeners { intake.noticeSubscription(of: peer) }
            earlyListeners = []
            var begun: [UpdateStream] = []
            try sockets.drainSubscriptions(
                for: pace.drainDuration,
                mayFollow: { intake.mayFollow($0, $1, of: $2) },
                inbox: { intake.noticeSubscription(of: $0) }, stream: { begun.append($0) })
            sockets.settleInboxes { intake.owner(of: $0) }
            for (counter, count) in sockets.takeConnectionCounts() { intake.count(counter, count) }
            if let lookout { intake.notice(leaders: lookout.leaders) }
            intake.follow(sockets.subscriptions)
            for stream in begun { intake.publishAgain(stream) }
            var facts = ShellFacts(
                hasUnreadBatches: try sockets.drainBatches(for: pace.drainDuration) { intake.receive($0, by: $1) })
            facts.connections = sockets.connectionRoom
            facts.journalLease = journal.lease
            facts.vanished = vanished
            facts.heldLogBytes = journal.heldLogBytes
            intake.notice(facts)
            intake.count(.malformedFrame, sockets.takeMalformedCount())
            local?.turn(&intake, at: arrived.monotonic, log)
            now = SystemClock.now
            intake.passTime(to: now)
        }
        let end = TurnEnd(deadline: ready.deadline, outcome: ready.outcome, historyLost: ready.historyLost)
        let takesSnapshot = snapshots.isDue(at: ready.position)
        let isBarrier = ready.isBarrier || takesSnapshot || !hasBegun
        try killSwitch?.check()
        meter?.note {
            $0.turns.note(from: arrived.monotonic, to: SystemClock.monotonic)
            $0.effects = machine.effectFigures
            $0.database = journal.lease?.database
        }
        let turn = WaitingTurn(
            ready, arrivedAt: arrived.monotonic, begunAt: now.monotonic, ahead: waiting.count)
        // This precedes the append, because the machine's state has these records even if the append fails.
        waiting.append(turn)
        let receipt = try journal.beginAppend(turn.records, through: turn.position)
        // Records that a peer knows and this journal lacks may be in a successor's journal. First prove that there is none.
        if end.historyLost != nil { try journal.prove() }
        if let receipt { try release(receipt, &sockets) }
        if isBarrier { try settle(&sockets) }
        hasBegun = true
        if takesSnapshot { snapshots.write(machine.journaled, log) }
        try flushIfDue(at: now.monotonic)
        log.tellLeftOut(at: now.monotonic)
        return end
    }

    /// Releases the turns whose receipts have come, and waits for some if that is necessary before the next turn begins.
    private func takeReceipts(_ sockets: inout ReducerSockets) throws {
        while let oldest = waiting.first {
            let isFull = waiting.count >= overlap.turnsLimit
            let standsStill = SystemClock.monotonic - oldest.begunAt >= standstill
            let receipt =
                isFull || standsStill ? try awaitReceipt(&sockets) : try journal.takeReceipt(waits: false)
            guard let receipt else { return }
            try release(receipt, &sockets)
        }
    }

    /// Waits until every turn has its receipt, and releases it.
    func settle(_ sockets: inout ReducerSockets) throws {
        while !waiting.isEmpty, let receipt = try awaitReceipt(&sockets) { try release(receipt, &sockets) }
        precondition(waiting.isEmpty, "the journal has no receipt through \(waiting.last?.position ?? 0)")
    }

    private func awaitReceipt(_ sockets: inout ReducerSockets) throws -> JournalReceipt? {
        let begunAt = waiting.first?.begunAt ?? SystemClock.monotonic
        return try stop.receipt(of: &journal, begunAt: begunAt, &sockets, &mail)
    }

    /// Releases the turns that a receipt proves, in their order.
    private func release(_ receipt: JournalReceipt, _ sockets: inout ReducerSockets) throws {
        while let turn = waiting.first, turn.position <= receipt.position {
            waiting.removeFirst()
            try killSwitch?.check()
            let now = SystemClock.monotonic
            let wait = now - turn.begunAt
            // The turns ahead have waited too, so each of them gets a share.
            pace.note(closing: wait / (turn.ahead + 1))
            if !turn.records.isEmpty {
                overlap.note(wait: wait, ahead: turn.ahead)
                meter?.note {
                    $0.appends.note(wait)
                    $0.positions = (turn.position, self.snapshots.position)
                    $0.snapshotByteCount = self.snapshots.byteCount
                }
            }
            let released = machine.release(turn.take(), receipt)
            for event in released.traced {
                tracer?.record(TraceSpan(applied: event, of: Definition.name, began: turn.arrivedAt, ended: now))
            }
            // A peer that learns of a fault from the messages finds it in the log.
            for news in released.news { log.tell(news) }
            for outbound in released.messages { try send(outbound, &sockets, at: now) }
            // No peer waits for what follows.
            for job in released.backgroundJobs { send(out: job) }
            for request in released.journalRequests { try answer(request) }
        }
    }

    private func newlyDroppedLines() -> UInt64 {
        let count = StandardError.droppedCount
        defer { droppedLinesCount = count }
        return count - droppedLinesCount
    }

    private func takeMail() -> [Letter] {
        if mail.isEmpty { return [] }
        defer { mail = [] }
        return mail
    }

    /// Flushes the journal at intervals, as long as there are turns.
    private func flushIfDue(at now: MonotonicTime) throws {
        guard waiting.isEmpty, now - flushedAt >= Self.flushInterval else { return }
        try journal.flush()
        flushedAt = now
    }

    /// Runs a job on its own thread, because jobs are few and long.
    private func send(out job: BackgroundJob) {
        do {
            let post = post
            _ = try NodeThread("loop-job") {
                // Nothing waits for a hash.
                let result = job.isDigest ? BackgroundWork.run { job.run() } : job.run()
                post(.letter(.jobDone(result)))
            }
        } catch {
            // Run it here: a pause is better than no result.
            log.once(
                .noThread, "no thread for a copy of the state, which is hashed in the reducer's own: \(error)",
                [.reason("\(error)")])
            post(.letter(.jobDone(job.run())))
        }
    }

    /// Admits these keys from the next turn on.
    func admit(_ keys: AllowedKeys) {
        newKeys = keys
        stop.keys = keys
    }

    /// Takes another thread's input of the machine, for the next turn.
    func receive(_ letter: Letter) { mail.append(letter) }

    private func answer(_ request: JournalRequest) throws {
        switch request.question {
        case .trim(let before):
            if let refusal = JournalError.refusal(ofTrimBefore: before, newest: machine.seq) {
                return receive(.answer(.refused("\(refusal)"), request))
            }
            receive(.answer(.done(try journal.trimmed(before: before, name: "the journal")), request))
        case .stepDown: stepDownRequest = request
        case .read(let reading):
            try journal.flush()
            if let refusal = queries.take(reading, for: request, newest: { newestState($0, $1) }) {
                receive(.answer(.refused(refusal), request))
            }
        }
    }

    /// Makes a closure that encodes a part of the newest state on the thread that calls it.
    private func newestState(
        _ part: StateSelection, _ outline: OutlineSelection?
    ) -> @Sendable () throws -> AdministrationAnswer {
        let (seq, state, definition) = (machine.seq, machine.journaled.state(of: definition), definition)
        return { .state(seq: seq.value, bytes: try ShownState.encode(part, of: state, definition, outline: outline)) }
    }

    /// Begins a new history without records that peers know of.
    func goOn(without lost: HistoryLost) {
        let history = History(SystemRandom.uint64() | 1)
        log.note(
            .historyBegun, "\(lost); a new history begins: \(history)", [.history("\(history)"), .reason("\(lost)")])
        machine.beginHistory(history, at: SystemClock.now)
    }

    func snapshotWritten(_ result: Result<WrittenSnapshot, JournalError>, opening: UInt64) throws {
        switch snapshots.written(result, opening: opening) {
        case nil: break
        case .success(let written):
            try add(written)
            meter?.note {
                $0.snapshots.written += 1
                $0.snapshotAt = SystemClock.monotonic
            }
        case .failure(let error):
            meter?.note { $0.snapshots.failed += 1 }
            log.once(.snapshotFailed, "no snapshot was made: \(error)", [.reason("\(error)")])
        }
    }

    private func add(_ written: WrittenSnapshot) throws(JournalError) {
        let entry = written.entry
        try journal.add(entry)
        log.note(
            .snapshot,
            "a snapshot at seq \(entry.seq) is written, \(entry.byteCount) bytes in"
                + " \(written.duration.text)",
            [.position(entry.position), .seq(entry.seq), .bytes(entry.byteCount), .duration(written.duration)])
    }

    /// Ends the service cleanly, so that the next ordinary start replays nothing.
    /// - Parameter takesSnapshot: false if the next leader has followed the journal, and so needs no snapshot.
    /// - Returns: the state, for following the journal from here on.
    @discardableResult
    func finish(takesSnapshot: Bool = true) -> WarmState? {
        do {
            try journal.flush()
            // Records that the machine has made and no turn has appended are not in the journal, so a snapshot would
            // be ahead of it.
            let isDurable = machine.journaled.position == journal.position
            if takesSnapshot, isDurable, machine.end == nil, let written = try snapshots.writeNow(machine.journaled) {
                try add(written)
            }
        } catch {
            log.note(.snapshotFailed, "no snapshot was made at the end: \(error)", [.reason("\(error)")])
        }
        let warm = WarmState(of: machine.journaled, at: journal)
        journal.close()
        return warm
    }

    /// Ends the service as `finish` does, so that another reducer can lead. Effects of this process end first.
    func stepDown(takesSnapshot: Bool) -> WarmState? {
        local?.die()
        return finish(takesSnapshot: takesSnapshot)
    }

    /// Marks the journal as ended after the outcome was delivered, so that the next run starts over.
    func markEnded() throws(JournalError) { try journal.markEnded() }

    /// Checks an error that would end the reducer, as the journal's `proven` does.
    func proven(_ error: any Error) -> any Error { journal.proven(error) }

    /// Closes a journal that has failed.
    /// - Returns: the state, with the records that have no receipt, or nil if a journal cannot be compared with it.
    func abandon() -> WarmState? {
        defer { journal.close() }
        return WarmState(of: machine.journaled, at: journal, ahead: waiting.flatMap { Array($0.records) })
    }

    /// Ends as the process would: unwritten records are lost, and the bodies of local effects end.
    func die() {
        journal.abandon()
        local?.die()
    }

    private func send(_ outbound: Outbound, _ sockets: inout ReducerSockets, at now: MonotonicTime) throws {
        switch outbound {
        // Messages for the local peer never touch a socket.
        case .inbox(let peer, let frame) where peer == local?.peer: local?.receivePublished(frame, at: now)
        case .reply(.local, let frame): local?.receiveReply(frame, at: now)
        case .inbox(let peer, let frame): try sockets.publish(frame, toInboxOf: peer)
        case .publish(let topic, let frame): try sockets.publish(frame, on: topic)
        case .reply(.router(let id), let frame): try sockets.reply(frame, to: id)
        }
    }
}

/// How one turn of a reducer ended.
struct TurnEnd {
    var deadline: MonotonicTime
    /// Whether the local worker has messages, so that the next turn does not wait.
    var hasWork = false
    var outcome: Outcome?
    var historyLost: HistoryLost?
}
