import LoopCluster
import LoopCore
import LoopWire

/// The reducer's turns, as its shell performs them.
extension ReducerActor {
    var reducerMoment: Moment { process.clock.moment(at: now) }

    func wake(at time: UInt64) {
        guard time < process.wakesAt else { return }
        process.wakesAt = time
        world.agenda.note(.reducerTurn(candidate: process.life.candidate), at: time)
    }

    /// Drains ROUTER completely, then batches, lets time pass, and passes the records to the disk.
    func turn() throws(Violation) {
        guard now >= process.wakesAt else { return }
        process.wakesAt = .max
        guard process.isUp, !candidate.hold.isSteppingDown, process.turns.mayBegin(plan.turnsMax) else { return }
        if process.frozenUntil > now { return wake(at: process.frozenUntil) }
        if process.endsAgainAt <= now {
            process.endsAgainAt = .max
            return try crash()
        }
        let moment = reducerMoment
        guard var machine = process.beginTurn(at: now) else { return }
        world.reads.begin(machine)
        let ready = try machine.turn(at: moment) { (intake) throws(Violation) in
            while let result = process.backgroundJobs.takeNext(at: now) { intake.receive(result) }
            try observe(.turnBegan(intake.progress))
            try admitKeys(&intake)
            if plan.hasHostiles { try drainHostiles(&intake) }
            try drainRouter(&intake)
            try drainSubscriptions(&intake)
            settleInboxes { intake.owner(of: $0) }
            try drainCollector(&intake)
            try drainLocal(&intake, at: moment.monotonic)
        }
        process.machine = consume machine
        if process.trap.hasSprung { return try endInReduction() }
        if !plan.isUnguarded {
            if let reducer = process.machine { try world.reads.check(reducer) { world.checkers.count(.nothingLost) } }
            if isLeading { try watchLeases() }
        }
        process.deadline = ready.deadline
        try append(TurnUnderWay(ready, at: process.turnMoment))
    }

    /// Passes a turn's records to the disk, which needs some time. Meanwhile the next turn may begin.
    func append(_ turn: TurnUnderWay) throws(Violation) {
        if world.storage.database != nil { try place(turn) }
        try sendEarly(turn)
        let records = turn.records
        let isAlone = process.turns.isEmpty
        process.turns.append(turn)
        if world.storage.database != nil { return try sendToDatabase(turn) }
        if isAlone, let length = world.storage.awaitedLoss?.lengthWhereTorn(records) {
            world.storage.awaitedLoss = nil
            return try crash(tearingAt: length)
        }
        if records.isEmpty, isAlone { return try concludeTurns() }
        if !records.isEmpty {
            turn.awaits = 1
            let time = process.turns.write(at: now + drawDuration())
            world.agenda.note(.reducerSynced(life: process.life), at: time)
        }
        wakeForNextTurn()
    }

    private func drawDuration() -> UInt64 {
        let isSlow = world.storage.faults.isNextSlow
        world.storage.faults.isNextSlow = false
        return isSlow ? between(.milliseconds(200), plan.slowAppendMax) : between(0, plan.syncMaxNanoseconds)
    }

    /// The next turn may begin while others wait for the journal.
    func wakeForNextTurn() {
        guard process.turns.mayBegin(plan.turnsMax) else { return }
        wake(at: max(now, min(process.clock.virtual(process.deadline), nextArrival())))
    }

    /// With a broken rule, messages of a turn leave before its receipt.
    private func sendEarly(_ turn: TurnUnderWay) throws(Violation) {
        let isBehindOthers = turn.records.isEmpty && !process.turns.isEmpty
        let isFirst = candidate.hold.receipt == BatchLink() && brokenRules.contains(.tailIsReadInTheTerm)
        if brokenRules.contains(.nothingLeavesEarly) || isFirst
            || isBehindOthers && brokenRules.contains(.emptyTurnsWait)
        {
            turn.hasLeft = true
            try deliver(turn.messagesWithoutReceipt, of: turn)
        }
    }

    /// The disk has answered for the oldest turn that waits for it.
    func synced() throws(Violation) {
        process.turns.all.first { $0.awaits > 0 }?.awaits = 0
        try concludeTurns()
    }

    /// Concludes the turns that no longer wait for anything, in their order.
    func concludeTurns() throws(Violation) {
        while process.turns.first?.awaits == 0, let done = process.turns.removeFirst() { try conclude(done) }
        guard process.isUp else { return }
        if brokenRules.contains(.receiptsAreOfOneTurn) {
            for turn in process.turns.all where !turn.hasLeft {
                turn.hasLeft = true
                try deliver(turn.messagesWithoutReceipt, of: turn)
            }
        }
        wakeForNextTurn()
    }

    /// The disk has a turn's records, or has failed. With a receipt, the messages leave.
    private func conclude(_ done: TurnUnderWay) throws(Violation) {
        let (records, position) = (done.records, done.position)
        if world.storage.database != nil {
            try takeReceipt(of: done)
        } else if !records.isEmpty {
            guard try store(done) else { return }
        }
        guard let ready = done.takeReady(),
            let released = process.machine?.release(ready, JournalReceipt(through: position))
        else { return }
        if !records.isEmpty, isLeading {
            if process.turns.isEmpty { try demandSurvivorsStruck() }
            try observeReducer()
            if let loss = world.storage.awaitedLoss, process.turns.isEmpty, loss.covers(records) {
                return try loseQuietly(loss, done, released.messages)
            }
        }
        if let end = done.outcome, world.outcome == nil {
            try world.noteEnd(end)
            guard process.isUp else { return }
        }
        if !done.hasLeft { try deliver(released.messages, of: done) }
        keepUp(released)
        // This follows the turn's snapshot, as in a node: the first records of a new history are not durable before the next turn.
        if let lost = done.historyLost { try goOn(without: lost) }
    }

    /// - Returns: whether there is a receipt.
    private func store(_ turn: TurnUnderWay) throws(Violation) -> Bool {
        process.journal?.failure = world.storage.faults.takeFailure(at: now)
        do {
            _ = try process.journal?.append(turn.log, through: turn.position)
        } catch  where error.kind == .misuse {
            throw Violation(.oneOrder, "another process has written into the journal: \(error)")
        } catch {
            try journalFailed(turn.records, error)
            return brokenRules.contains(.failedJournalsAreLeft)
        }
        for record in turn.records { try world.noteDurable(record, of: turn.moment) }
        try observe(.turnEnded)
        return true
    }

    /// Compares a few turns completely, and the others only as far as most differences would show.
    private func observeReducer() throws(Violation) {
        process.releaseCount += 1
        guard process.turns.isEmpty, process.releaseCount % loop.limits.restInterval == 0 else { return }
        guard let reducer = process.machine else { return }
        try measureQueues()
        try world.checkers.rest(reducer.journaled, wholly: process.releaseCount % (8 * loop.limits.restInterval) == 0)
        guard process.releaseCount % 64 == 0 else { return }
        for peer in reducer.status().peers {
            try observe(.measured(entries: 0, entriesMax: 0, lag: peer.lag, lagMax: plan.inboxWindow + 16))
        }
    }

    /// Peers know of records that the journal does not have.
    private func goOn(without lost: HistoryLost) throws(Violation) {
        world.checkers.count(.nothingLost)
        say("\(lost)")
        if plan.keeping == .fsync, !plan.isUnguarded {
            guard world.storage.isRestored else { throw Violation(.nothingLost, "\(lost)") }
            if !world.storage.goesOnWithoutLost {
                say("the reducer stops; an operator starts it without what is missing")
                world.storage.goesOnWithoutLost = true
                return try crash()
            }
        }
        let (history, moment) = (History(world.random.next() | 1), reducerMoment)
        process.machine?.beginHistory(history, at: moment)
        world.leases.epoch = process.machine?.epoch ?? .none
        world.tally.historiesBegun += 1
    }

    /// The work after a durable turn: background writes, snapshots, operators' requests to the journal.
    private func keepUp(_ released: Released) {
        if plan.keeping == .none, now - process.flushedAt >= 200_000_000 {
            process.journal?.flush()
            process.flushedAt = now
        }
        for request in released.journalRequests {
            guard case .trim(let before) = request.question else { continue }
            if let term = candidate.hold.term { world.storage.database?.trim(before: before, in: term) }
            _ = process.journal?.trim(before: before)
        }
        snapshotIfDue()
        for job in released.backgroundJobs {
            // The time does not come from the generator, because everything else depends on its numbers.
            let time = now + 1_000_000 + (now &* 0x9E37_79B9) % 400_000_000
            process.backgroundJobs.begin(job, doneAt: time)
            world.agenda.note(.jobDone(candidate: process.life.candidate), at: time)
        }
    }

    /// An ordinary snapshot. It is taken between two turns, written while the loop continues, and valid once its row is there.
    private func snapshotIfDue() {
        guard plan.keeping != .memory, let disk = world.storage.disk,
            process.snapshots.isDue(at: disk.position, interval: plan.snapshotInterval)
        else { return }
        // The machine is ahead of the journal while a turn is under way.
        guard process.turns.isEmpty else {
            process.turns.mustRest = true
            return
        }
        guard isLeading else { return }
        process.snapshots.newestAt = disk.position
        process.snapshots.writing = snapshot()
        world.agenda.note(.snapshotWritten(life: process.life), at: now + between(1_000_000, 500_000_000))
    }

    func snapshot() -> SimulatedDisk.Snapshot? {
        guard let core = process.machine?.journaled, let bytes = try? core.snapshot() else { return nil }
        let entry = SnapshotEntry(
            position: core.position, seq: core.seq, fingerprint: core.loop.fingerprint.value, byteCount: bytes.count)
        return SimulatedDisk.Snapshot(entry: entry, bytes: bytes)
    }

    func snapshotWritten() {
        guard let written = process.snapshots.writing.take() else { return }
        if let database = world.storage.database {
            if let term = candidate.hold.term { database.add(written, in: term) }
            return
        }
        world.storage.disk?.add(written, breaking: brokenRules)
    }
}
