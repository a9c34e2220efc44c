import LoopCluster
import LoopCore
import LoopWire

/// How the reducer's process ends, and what is lost with it.
extension ReducerActor {
    // MARK: Failing journals

    /// The journal has failed. No message that depends on the failed records leaves, and the machine's state is discarded.
    func journalFailed(_ records: [Record], _ error: JournalError) throws(Violation) {
        world.checkers.count(.durableBeforeVisible)
        if brokenRules.contains(.failedJournalsAreLeft) { return }
        say("\(error)")
        // What was written before the failure may have reached the disk.
        if error.kind == .failedDisk { try tear(records) }
        process.journal?.close()
        try letGoOfMachine()
        process.endLife()
        world.agenda.note(.reducerRetry(life: process.life), at: now + between(250_000_000, 1_000_000_000))
    }

    /// The process opens its journal again. In the meantime it has answered no peer.
    func retryJournal() throws(Violation) {
        for peer in world.roster.present {
            while peer.sockets[here].dealer.toReducer.readableAt <= now {
                _ = peer.sockets[here].dealer.toReducer.popFirst()
            }
        }
        if now < world.storage.faults.fullUntil {
            return world.agenda.note(.reducerRetry(life: process.life), at: now + between(250_000_000, 1_000_000_000))
        }
        try openAndServe()
    }

    func letGoOfMachine() throws(Violation) {
        process.end()
        // An end that is in a database was reported with a receipt, and stays.
        if world.storage.database == nil { world.ending.outcome = nil }
        try endLocally()
    }

    /// Keeps some records of an interrupted append.
    /// - Parameter length: the number of records, or nil for a random one.
    private func tear(_ records: [Record], at length: Int? = nil) throws(Violation) {
        let survivors = records.prefix(length ?? Int.random(in: 0...records.count, using: &world.random))
        let isSynced = plan.keeping == .fsync || survivors.contains(where: \.outlivesPower)
        world.storage.disk?.append(survivors, isSynced: isSynced)
        for record in survivors { try world.noteDurable(record, of: process.turnMoment) }
        if !records.isEmpty { say("\(survivors.count) of \(records.count) records stand") }
    }

    // MARK: Ending

    /// The process ends in the middle of the reduction of an event.
    func endInReduction() throws(Violation) {
        guard let (event, isItsFault) = process.trap.sprung else { return }
        say("the process ends in the reduction of \(event)")
        switch process.trap.finding(world.storage.disk?.history ?? .none) {
        case .suspect(let suspect):
            if let entry = world.checkers.entry(world.storage.history, suspect.session, suspect.number) {
                try observe(.trapped(entry: entry.id, isItsFault: isItsFault))
            } else if suspect.session == .none, let timer = suspect.effect {
                try observe(.trappedInTimer(timer, isItsFault: isItsFault))
            }
        case .retry(let id): try observe(.trappedAgain(quarantined: id))
        case .nothing, .replay, .fault: break
        }
        // A signal handler can note a fault, but not a kill.
        try crash(signal: isItsFault && chance(0.8) ? 4 : 0)
    }

    /// - Parameters:
    ///   - signal: the signal that ended the process, if a handler could note it.
    ///   - losesPower: whether unsynced records are lost.
    ///   - position: the position up to which everything has reached the disk, synced or not, or nil for a random part.
    ///   - length: how many records of the append under way remain, or nil for a random number.
    func crash(
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
        for peer in world.roster.present where peer.role != .local { loseBuffers(of: peer) }
        if process.trap.isArmed, now > plan.buildReplacedAt {
            process.trap.isArmed = false
            say("another build of the loop is started")
        }
        world.agenda.note(.reducerStart(life: process.life), at: now + between(.milliseconds(5), .seconds(2)))
    }

    /// A graceful end: the whole journal is in a snapshot, and the next start replays nothing.
    func stop() throws(Violation) {
        guard process.isUp, !process.isSyncing, plan.keeping != .memory else { return }
        process.journal?.flush()
        if let last = snapshot(), let disk = world.storage.disk, last.entry.position == disk.position {
            disk.add(last, breaking: brokenRules)
        }
        try crash()
    }

    /// Acknowledged records are lost whose durability the journal did not promise.
    private func loseTail(behind position: UInt64?) throws(Violation) {
        guard let disk = world.storage.disk, plan.keeping != .memory else { return }
        let share = world.random.fraction()
        let lost = position.map { disk.losePower(behind: $0) } ?? disk.losePower(keeping: share)
        guard !lost.isEmpty else { return }
        say("\(lost.count) records are lost")
        world.tally.tailsLost += 1
        try world.forget(lost, of: disk)
    }

    /// The buffers of the dead process are lost. Its peers connect again.
    func loseBuffers(of peer: Peer) {
        peer.sockets[here].pusher.loseBuffers(&world.random)
        at(peer).renewRoute(at: here)
        guard peer.sockets[here].subscriber.isConnected else { return }
        // Messages that the old connection had delivered may be read late.
        if peer.sockets[here].subscriber.connections.hasPresent, chance(0.3) {
            peer.sockets[here].subscriber.connections.stallPresent(until: world.stall())
        }
        if peer.sockets[here].pusher.connections.hasPresent, chance(0.3) {
            peer.sockets[here].pusher.connections.stallPresent(until: world.stall())
            peer.sockets[here].pusher.connections.pipes.append(Pipe())
        }
        renewSubscription(of: peer)
    }

    /// The machine loses power after a turn, and everything that the turn wrote is lost. Peers have received messages of the turn,
    /// but those whose entries it consumed have not. So no peer can show the loss.
    func loseQuietly(
        _ loss: AwaitedLoss, _ turn: TurnUnderWay, _ messages: [Outbound]
    ) throws(Violation) {
        // The other worker, which was away, may return with entries of the attempt that it no longer has.
        let isAwaited = loss.of == .attemptEnd && !loss.endsAgain
        world.storage.awaitedLoss = isAwaited ? AwaitedLoss(of: .refusal, endsAgain: false) : nil
        let senders = Set(turn.records.compactMap { $0.entry?.session })
        let deaf = world.roster.present.filter { senders.contains($0.machine.session) }.map {
            (peer: $0, burst: $0.sockets[here].subscriber.dropCount)
        }
        for (peer, _) in deaf { peer.sockets[here].subscriber.dropCount = messages.count }
        try deliver(messages, of: turn)
        for (peer, burst) in deaf { peer.sockets[here].subscriber.dropCount = burst }
        try crash(losesPower: true, behind: turn.position - UInt64(turn.records.count))
        if loss.endsAgain { process.endsAgainAt = now + between(plan.silenceLimit / 4, plan.silenceLimit * 3) }
    }

    /// An operator stops the reducer, puts back an older copy of the journal, and starts it. That takes a while, so everything
    /// under way is lost.
    /// - Returns: whether there was an older copy.
    func putBackCopy() throws(Violation) -> Bool {
        // The copy lacks a number that a forger has used, and the number's owner does not know of it yet.
        guard !world.roster.present.contains(where: { $0.life.forgedUntil > now }) else { return false }
        guard process.isUp, plan.keeping != .memory, let count = world.storage.restoreCopy() else { return false }
        process.trap.end(signal: 0)
        process.journal?.close()
        try letGoOfMachine()
        say("an older copy of the journal is put back: \(count) records are missing")
        loseConnections()
        process.endLife()
        world.agenda.note(.reducerStart(life: process.life), at: now + UInt64((plan.silenceLimit * 2).wholeNanoseconds))
        return true
    }

    /// The first start on the older copy. By now every process has noticed the silence, or is frozen.
    func startOnCopy(without lost: [Record], _ disk: SimulatedDisk) throws(Violation) {
        loseConnections()
        try world.forget(lost, of: disk)
    }

    /// All peers connect again, and everything that their connections carried is lost.
    private func loseConnections() {
        for peer in world.roster.present where peer.role != .local {
            peer.sockets[here].pusher.loseAll()
            peer.sockets[here].subscriber.loseAll()
            at(peer).renewRoute(at: here)
            if peer.sockets[here].subscriber.isConnected { renewSubscription(of: peer) }
        }
    }
}
