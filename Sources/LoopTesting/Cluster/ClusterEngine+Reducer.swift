import LoopCluster
import LoopCore
import LoopWire

/// The reducer's turns, as its shell takes them.
extension ClusterEngine {
    var reducerMoment: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: now + reducerClockOffset),
            wall: WallTime(milliseconds: 1_700_000_000_000 + wallOffset + Int64(now / 1_000_000)))
    }

    func wakeReducer(at time: UInt64) {
        guard time < reducerWakesAt else { return }
        reducerWakesAt = time
        agenda.note(.reducerTurn, at: time)
    }

    /// Drain ROUTER wholly, then batches, let time pass, and hand the records to the disk.
    func reducerTurn() throws(Violation) {
        guard now >= reducerWakesAt else { return }
        reducerWakesAt = .max
        guard isReducerUp, !isSyncing else { return }
        if reducerFrozenUntil > now { return wakeReducer(at: reducerFrozenUntil) }
        if endsAgainAt <= now {
            endsAgainAt = .max
            return try crashReducer()
        }
        let moment = reducerMoment
        turnAt = now
        turnWall = moment.wall
        guard var machine = reducer.take() else { return }
        beginReadAccount(machine)
        let ready = try machine.turn(at: moment) { (intake) throws(Violation) in
            handIn(&intake)
            try drainRouter(&intake)
            drainSubscriptions(&intake)
            drainCollector(&intake)
            try drainLocal(&intake, at: moment.monotonic)
        }
        reducer = machine
        if trap.hasSprung { return try endInReduction() }
        try demandEverythingRead()
        try watchLeases()
        if brokenRules.contains(.nothingLeavesEarly) { try deliver(ready.messagesWithoutReceipt) }
        let records = Array(ready.records)
        unsynced = Unsynced(ready: ready, records: records)
        isSyncing = true
        if awaitedLoss != nil, let length = lengthWhereTorn(records) {
            awaitedLoss = nil
            return try crashReducer(tearingAt: length)
        }
        if records.isEmpty { return try reducerSynced(reducerLife) }
        let duration =
            isNextAppendSlow ? between(.milliseconds(200), plan.slowAppendMax) : between(0, plan.syncMaxNanoseconds)
        isNextAppendSlow = false
        agenda.note(.reducerSynced(life: reducerLife), at: now + duration)
    }

    /// What other threads have come to since the last turn. What a life before has wished for is handed over too: a machine
    /// tells it apart.
    private func handIn(_ intake: inout ReducerCore) {
        while let first = errands.first, first.doneAt <= now {
            errands.removeFirst()
            intake.receive(first.result)
        }
    }

    /// The disk has answered: with a receipt the messages leave.
    func reducerSynced(_ life: UInt32) throws(Violation) {
        guard life == reducerLife, let done = unsynced.take() else { return }
        isSyncing = false
        if !done.records.isEmpty { guard try append(done) else { return } }
        let (records, end, lost) = (done.records, done.ready.outcome, done.ready.historyLost)
        let (position, deadline) = (done.ready.position, done.ready.deadline.nanoseconds)
        guard let released = reducer?.release(done.ready, JournalReceipt(through: position)) else { return }
        if !records.isEmpty {
            try demandSurvivorsStruck()
            try observeReducer()
            if isToBeLost(records) { return try loseQuietly(records, through: position, released.messages) }
        }
        if let end, outcome == nil {
            try noteEnd(end)
            guard isReducerUp else { return }
        }
        if !brokenRules.contains(.nothingLeavesEarly) { try deliver(released.messages) }
        if let lost { try goOn(without: lost) }
        guard isReducerUp else { return }
        keepUp(released)
        let time = deadline == .max ? .max : max(deadline, reducerClockOffset) - reducerClockOffset
        wakeReducer(at: max(now, min(time, nextArrivalAtReducer())))
    }

    /// - Returns: whether there is a receipt.
    private func append(_ turn: borrowing Unsynced) throws(Violation) -> Bool {
        journal?.failure = now < diskFailsUntil ? .full : isNextAppendFailing ? .failedDisk : nil
        isNextAppendFailing = false
        do {
            _ = try journal?.append(turn.records, through: turn.ready.position)
        } catch  where error.kind == .misuse {
            throw Violation(.oneOrder, "another process has written into the journal: \(error)")
        } catch {
            try journalFailed(turn.records, error)
            return brokenRules.contains(.failedJournalsAreLeft)
        }
        for record in turn.records { try noteDurable(record) }
        return true
    }

    /// Looks at a few turns closely, and at the others only where most differences would show.
    private func observeReducer() throws(Violation) {
        restCount += 1
        guard restCount % limits.restInterval == 0 else { return }
        guard let reducer else { return }
        try measureQueues()
        try checkers.rest(reducer.core, wholly: restCount % (8 * limits.restInterval) == 0)
        guard restCount % 64 == 0 else { return }
        for peer in reducer.status().peers {
            try observe(.measured(entries: 0, entriesMax: 0, lag: peer.lag, lagMax: plan.inboxWindow + 16))
        }
    }

    func noteDurable(_ record: Record) throws(Violation) {
        if case .event = record { eventCount += 1 }
        noteRetry(record)
        try checkers.journal(history, record)
        if case .historyBegun(let begun, _) = record {
            history = begun
            isRestored = false
            goesOnWithoutLost = false
        }
    }

    /// Peers know of records that the journal does not have.
    private func goOn(without lost: HistoryLost) throws(Violation) {
        checkers.count(.nothingLost)
        say("\(lost)")
        if plan.keeping == .fsync {
            guard isRestored else { throw Violation(.nothingLost, "\(lost)") }
            if !goesOnWithoutLost {
                say("the reducer stops; an operator starts it without what is missing")
                goesOnWithoutLost = true
                return try crashReducer()
            }
        }
        reducer?.beginHistory(History(random.next() | 1), at: reducerMoment)
        servedEpoch = reducer?.epoch ?? .none
        historiesBegun += 1
    }

    /// What follows a turn that is durable: background writes, snapshots, operators' questions to the journal.
    private func keepUp(_ released: Released) {
        if plan.keeping == .none, now - flushedAt >= 200_000_000 {
            journal?.flush()
            flushedAt = now
        }
        for request in released.journalRequests {
            guard case .trim(let before) = request.question else { continue }
            _ = journal?.trim(before: before)
        }
        snapshotIfDue()
        begin(released.errands)
    }

    /// Other threads work on copies of the state, and are ready some time later.
    private func begin(_ errands: [Errand]) {
        for errand in errands {
            // Of no generator, on whose numbers everything else depends.
            let time = now + 1_000_000 + (now &* 0x9E37_79B9) % 400_000_000
            self.errands.append((time, errand.run()))
            agenda.note(.errandDone, at: time)
        }
    }

    /// An ordinary snapshot: taken between two turns, written while the loop goes on, and there once its row is.
    private func snapshotIfDue() {
        guard plan.keeping != .memory, writing == nil, let disk, disk.position >= snapshotAt + plan.snapshotInterval
        else { return }
        snapshotAt = disk.position
        writing = snapshot()
        agenda.note(.snapshotWritten(life: reducerLife), at: now + between(1_000_000, 500_000_000))
    }

    func snapshot() -> SimulatedDisk.Snapshot? {
        guard let core = reducer?.core, let bytes = try? core.snapshot() else { return nil }
        let entry = SnapshotEntry(
            position: core.position, seq: core.seq, fingerprint: core.fingerprint.value, byteCount: bytes.count)
        return SimulatedDisk.Snapshot(entry: entry, bytes: bytes)
    }

    func snapshotWritten(_ life: UInt32) {
        guard life == reducerLife, let written = writing else { return }
        writing = nil
        disk?.add(written, breaking: brokenRules)
        snapshotsWritten += 1
    }
}
