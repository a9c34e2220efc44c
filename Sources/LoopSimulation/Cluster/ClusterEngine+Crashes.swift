import LoopCluster
import LoopCore
import LoopWire

/// How the reducer's process ends, and what is lost with it.
extension ClusterEngine {
    // MARK: Failing journals

    /// The journal has failed. No message that depends on the failed records leaves, and the machine's state is discarded.
    func journalFailed(_ records: [Record], _ error: JournalError) throws(Violation) {
        checkers.count(.durableBeforeVisible)
        if brokenRules.contains(.failedJournalsAreLeft) { return }
        say("\(error)")
        // What was written before the failure may have reached the disk.
        if error.kind == .failedDisk { try tear(records) }
        process.journal?.close()
        try letGoOfMachine()
        process.endLife()
        agenda.note(.reducerRetry(life: process.life), at: now + between(250_000_000, 1_000_000_000))
    }

    /// The process opens its journal again. In the meantime it has answered no peer.
    func retryJournal() throws(Violation) {
        for peer in roster.present {
            while peer.sockets.dealer.toReducer.readableAt <= now { _ = peer.sockets.dealer.toReducer.popFirst() }
        }
        if now < storage.faults.fullUntil {
            return agenda.note(.reducerRetry(life: process.life), at: now + between(250_000_000, 1_000_000_000))
        }
        try openAndServe()
    }

    func letGoOfMachine() throws(Violation) {
        process.end()
        ending.outcome = nil
        try endLocally()
    }

    /// Keeps some records of an interrupted append.
    /// - Parameter length: the number of records, or nil for a random one.
    private func tear(_ records: [Record], at length: Int? = nil) throws(Violation) {
        let survivors = records.prefix(length ?? Int.random(in: 0...records.count, using: &random))
        let isSynced = plan.keeping == .fsync || survivors.contains(where: \.outlivesPower)
        storage.disk?.append(survivors, isSynced: isSynced)
        for record in survivors { try noteDurable(record, of: process.turnMoment) }
        if !records.isEmpty { say("\(survivors.count) of \(records.count) records stand") }
    }

    // MARK: Ending

    /// The process ends in the middle of the reduction of an event.
    func endInReduction() throws(Violation) {
        guard let (event, isItsFault) = process.trap.sprung else { return }
        say("the process ends in the reduction of \(event)")
        switch process.trap.finding(storage.disk?.history ?? .none) {
        case .suspect(let suspect):
            if let entry = checkers.entry(storage.history, suspect.session, suspect.number) {
                try observe(.trapped(entry: entry.id, isItsFault: isItsFault))
            } else if suspect.session == .none, let timer = suspect.effect {
                try observe(.trappedInTimer(timer, isItsFault: isItsFault))
            }
        case .retry(let id): try observe(.trappedAgain(quarantined: id))
        case .nothing, .replay, .fault: break
        }
        // A signal handler can note a fault, but not a kill.
        try crashReducer(signal: isItsFault && chance(0.8) ? 4 : 0)
    }

    /// - Parameters:
    ///   - signal: the signal that ended the process, if a handler could note it.
    ///   - losesPower: whether unsynced records are lost.
    ///   - position: the position up to which everything has reached the disk, synced or not, or nil for a random part.
    ///   - length: how many records of the append under way remain, or nil for a random number.
    func crashReducer(
        signal: UInt64 = 0, losesPower: Bool = false, behind position: UInt64? = nil, tearingAt length: Int? = nil
    ) throws(Violation) {
        guard process.isUp else { return }
        // An append may have been completed, in part, or not at all.
        let records = plan.keeping == .memory ? [] : process.turns.records
        // The turn that ends in a reduction has no records yet, but those before it may have.
        let hasNothingUnderWay = process.trap.hasSprung && process.turns.isEmpty
        process.trap.end(signal: signal)
        process.journal?.close()
        try letGoOfMachine()
        say("the reducer's process ends")
        if !hasNothingUnderWay { try tear(records, at: length) }
        if plan.keeping == .none || losesPower { try loseTail(behind: position) }
        process.endLife()
        for peer in roster.present where peer.role != .local { loseBuffers(of: peer) }
        if process.trap.isArmed, now > plan.buildReplacedAt {
            process.trap.isArmed = false
            say("another build of the loop is started")
        }
        agenda.note(.reducerStart(life: process.life), at: now + between(.milliseconds(5), .seconds(2)))
    }

    /// A graceful end: the whole journal is in a snapshot, and the next start replays nothing.
    func stopReducer() throws(Violation) {
        guard process.isUp, !process.isSyncing, plan.keeping != .memory else { return }
        process.journal?.flush()
        if let last = snapshot(), let disk = storage.disk, last.entry.position == disk.position {
            disk.add(last, breaking: brokenRules)
        }
        try crashReducer()
    }

    /// Acknowledged records are lost whose durability the journal did not promise.
    private func loseTail(behind position: UInt64?) throws(Violation) {
        guard let disk = storage.disk, plan.keeping != .memory else { return }
        let share = random.fraction()
        let lost = position.map { disk.losePower(behind: $0) } ?? disk.losePower(keeping: share)
        guard !lost.isEmpty else { return }
        say("\(lost.count) records are lost")
        tally.tailsLost += 1
        try forget(lost, of: disk)
    }

    /// Records of the journal's end are lost.
    func forget(_ lost: [Record], of disk: SimulatedDisk) throws(Violation) {
        storage.findHistory(of: disk)
        try checkers.lose(lost, keeping: disk.records, of: disk.history)
    }

    /// The buffers of the dead process are lost. Its peers connect again.
    func loseBuffers(of peer: Peer) {
        peer.sockets.pusher.loseBuffers(&random)
        renewRoute(of: peer)
        guard peer.sockets.subscriber.isConnected else { return }
        // Messages that the old connection had delivered may be read late.
        if peer.sockets.subscriber.connections.hasPresent, chance(0.3) {
            peer.sockets.subscriber.connections.stallPresent(until: stall())
        }
        if peer.sockets.pusher.connections.hasPresent, chance(0.3) {
            peer.sockets.pusher.connections.stallPresent(until: stall())
            peer.sockets.pusher.connections.pipes.append(Pipe())
        }
        renewSubscription(of: peer)
    }
}
