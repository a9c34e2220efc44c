import LoopCluster
import LoopCore
import LoopWire

/// The reducer's process: turns as its shell takes them, crashes, restarts.
extension SimulatedCluster {
    var reducerMoment: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: now + reducerClockOffset),
            wall: WallTime(milliseconds: 1_700_000_000_000 + wallOffset + Int64(now / 1_000_000)))
    }

    func startReducer() throws(Violation) {
        let isFresh = history == .none || plan.isJournalVolatile
        if isFresh {
            history = History(random.next() | 1)
            journal = SimulatedJournal(history: history)
            try observe(.began(history))
        }
        reducerLife += 1
        reducerClockOffset = between(0, 1_000_000_000_000)
        wallOffset += Int64(between(0, 4000)) - 2000
        var configuration = ReducerConfiguration(
            silenceLimit: plan.silenceLimit, eventBytesMax: 64, inboxWindow: plan.inboxWindow,
            sessionRetention: plan.sessionRetention)
        configuration.updatesPerSecond = 20
        var machine = ReducerMachine(
            definition: SlotLoop(), configuration: configuration, coder: SlotCoder(), history: history,
            seed: random.next(), at: reducerMoment)
        machine.brokenRules = brokenRules
        machine.subscriptions.updates = 1
        machine.subscriptions.transitions = 1
        for record in journal.records {
            do {
                try machine.replay(record)
            } catch {
                throw Violation(.replayIsExact, "\(record) cannot be replayed: \(error)")
            }
        }
        if !isFresh { try checkers.rest(machine.core, wholly: true) }
        machine.begin(nonce: random.next(), at: reducerMoment)
        reducer = machine
        isReducerUp = true
        say("the reducer starts, epoch \(machine.epoch) of history \(machine.history)")
        wakeReducer(at: now)
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
        let moment = reducerMoment
        drainRouter(at: moment)
        drainCollector(at: moment)
        reducer?.advance(to: moment)
        guard let ready = reducer?.ready() else { return }
        let (records, position, deadline) = (ready.records, ready.position, ready.deadline)
        let messages = ready.release(JournalReceipt(through: position))
        if brokenRules.contains(.nothingLeavesEarly) { try deliver(messages) }
        unsynced = Unsynced(
            records: records, position: position, deadline: deadline,
            messages: brokenRules.contains(.nothingLeavesEarly) ? [] : messages)
        isSyncing = true
        if records.isEmpty { return try reducerSynced(reducerLife) }
        let duration = isNextAppendSlow ? between(.milliseconds(200), .seconds(3)) : between(.zero, plan.syncMax)
        isNextAppendSlow = false
        agenda.note(.reducerSynced(life: reducerLife), at: now + duration)
    }

    /// The records are durable: the messages leave.
    func reducerSynced(_ life: UInt32) throws(Violation) {
        guard life == reducerLife, let done = unsynced else { return }
        unsynced = nil
        isSyncing = false
        if !done.records.isEmpty {
            do {
                _ = try journal.append(done.records, through: done.position)
            } catch {
                throw Violation(.durableBeforeVisible, "\(error)")
            }
            for record in done.records { try noteDurable(record) }
            try observeReducer()
        }
        try deliver(done.messages)
        let deadline = done.deadline.nanoseconds
        let time = deadline == .max ? .max : max(deadline, reducerClockOffset) - reducerClockOffset
        wakeReducer(at: max(now, min(time, nextArrivalAtReducer())))
    }

    /// Looks at a few turns closely, and at the others only where most differences would show.
    private func observeReducer() throws(Violation) {
        restCount += 1
        guard restCount % 8 == 0, let reducer else { return }
        try checkers.rest(reducer.core, wholly: restCount % 64 == 0)
        guard restCount % 256 == 0 else { return }
        for peer in reducer.status().peers {
            try observe(.measured(entries: 0, entriesMax: 0, lag: peer.lag, lagMax: plan.inboxWindow + 16))
        }
    }

    private func noteDurable(_ record: Record) throws(Violation) {
        if case .event = record { eventCount += 1 }
        try checkers.journal(history, record)
    }

    func crashReducer() throws(Violation) {
        guard isReducerUp else { return }
        reducer = nil
        isReducerUp = false
        isSyncing = false
        if let lost = unsynced {
            unsynced = nil
            // The append may have come to its end, to a part, or to nothing.
            let survivors = lost.records.prefix(
                plan.isJournalVolatile ? 0 : Int.random(in: 0...lost.records.count, using: &random))
            journal.tear(survivors)
            for record in survivors { try noteDurable(record) }
            say("the reducer crashes; \(survivors.count) of \(lost.records.count) records stand")
        } else {
            say("the reducer crashes")
        }
        reducerLife += 1
        reducerWakesAt = .max
        for peer in present { loseBuffers(of: peer) }
        agenda.note(.reducerStart(life: reducerLife), at: now + between(.milliseconds(5), .seconds(2)))
    }

    /// What the dead process had buffered is gone; connections are made anew.
    private func loseBuffers(of peer: SimulatedPeer) {
        for index in peer.pusher.pipes.indices {
            let lost = Int.random(in: 0...peer.pusher.pipes[index].count, using: &random)
            for _ in 0..<lost { _ = peer.pusher.pipes[index].popFirst() }
        }
        renewRoute(of: peer)
        guard peer.isConnected else { return }
        // What the old connection had delivered may be read late.
        if let last = peer.subscriber.pipes.indices.last, chance(0.3) {
            peer.subscriber.pipes[last].stalledUntil = stall()
        }
        if let last = peer.pusher.pipes.indices.last, chance(0.3) {
            peer.pusher.pipes[last].stalledUntil = stall()
            peer.pusher.pipes.append(Pipe())
        }
        renewSubscription(of: peer)
    }
}
