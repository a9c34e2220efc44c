import LoopCluster
import LoopCore
import LoopWire

/// The faults that hit a process of the reducer, or a peer's connections to it, and what is lost with a process.
extension ReducerActor {
    /// - Returns: whether there was something to break.
    func fault(
        _ kind: SimulationPlan.Fault, _ peer: Peer, _ dice: inout SeededRandom
    ) throws(Violation) -> Bool {
        switch kind {
        case .burst: peer.sockets[here].subscriber.dropCount = Int.random(in: 2...12, using: &dice)
        case .push: return cutPush(of: peer, &dice)
        case .subscription:
            guard peer.sockets[here].subscriber.isConnected else { return false }
            // Messages under way are lost, and the publisher does not send them again.
            _ = peer.sockets[here].subscriber.connections.cutPresent(&dice)
            peer.sockets[here].subscriber.connections.stallPresent(until: world.stall())
            renewSubscription(of: peer)
        case .dealer:
            at(peer).renewRoute(at: here)
            peer.sockets[here].dealer.isDead = world.storage.database == nil && dice.chance(0.15)
        case .deadSubscription: peer.sockets[here].subscriber.isDead = true
        case .deadPush:
            if dice.fraction() < 0.5 {
                peer.sockets[here].pusher.isDead = true
            } else {
                peer.sockets[here].pusher.takesNothing = true
            }
        case .lostCollector:
            peer.sockets[here].pusher.isDead = true
            peer.sockets[here].pusher.lostUntil = now + between(plan.silenceLimit, plan.silenceLimit * 8)
        case .partition:
            let direction = [Timeline.Direction.both, .fromReducer, .toReducer].randomElement(using: &dice) ?? .both
            peer.sockets[here].cut(direction, until: now + between(plan.silenceLimit / 2, plan.silenceLimit * 8))
        case .replay: return replay(peer, &dice)
        case .freeze: peer.life.frozenUntil = now + between(.milliseconds(200), plan.silenceLimit * 4)
        case .kill: try at(peer).kill()
        case .stop: return try at(peer).stop()
        case .reducerFreeze: process.frozenUntil = now + between(.milliseconds(200), plan.silenceLimit * 3)
        case .crash:
            if world.storage.database != nil { return try kill() }
            guard process.isUp else { return false }
            try crash()
        case .crashInReduction: process.trap.endsAtNext = true
        case .powerLoss:
            guard process.isUp else { return false }
            try crash(losesPower: true)
        case .restart: try stop()
        case .stepDown: return stepDown()
        case .slowDisk where world.storage.database != nil: return stallStatements()
        case .lostConnection: return try loseConnection()
        case .candidateCut: cut(until: now + between(.milliseconds(300), .seconds(7)))
        case .isolation: isolate(until: now + between(.milliseconds(300), plan.silenceLimit * 5))
        case .databaseAway: world.storage.awayUntil = now + between(.milliseconds(200), .seconds(7))
        case .failover: return world.beginFailover(&dice)
        case .stillSource: return world.stopSource(&dice)
        case .slowDisk: world.storage.faults.isNextSlow = true
        case .failingDisk: world.storage.faults.isNextFailing = plan.keeping != .memory
        case .fullDisk:
            world.storage.faults.fullUntil =
                plan.keeping == .memory ? 0 : now + between(.milliseconds(200), .seconds(6))
        case .damagedSnapshot: return world.storage.disk?.damageNewestSnapshot() ?? false
        case .secondReducer: return try startSecondReducer()
        case .poison: peer.faults.sendsPoison = true
        case .clockSet: setClock(&dice)
        case .administration: return try administer(&dice)
        case .earlierSession: peer.sockets[here].subscriber.hearsEarlierSession = true
        case .quietLoss:
            guard plan.keeping == .os else { return false }
            world.storage.awaitedLoss = AwaitedLoss(
                of: dice.fraction() < 0.5 ? .event : .attemptEnd, endsAgain: dice.fraction() < 0.5)
        case .forgetfulClaim:
            guard process.isUp, peer.role == .worker, plan.keeping != .memory else { return false }
            peer.faults.forgetsClaims = true
            peer.faults.forgetfulEpoch = nil
            world.storage.awaitedLoss = AwaitedLoss(of: .refusal, endsAgain: false)
            try crash()
        case .copy:
            guard plan.keeping != .memory else { return false }
            world.storage.disk?.makeCopy()
        case .restored: return try putBackCopy()
        case .forgedBatch: return try forgeBatch(of: peer)
        case .copiedOutbox: return try restoreOutbox(of: peer)
        case .hostile: return try actHostilely(&dice)
        case .keysChanged: return world.changeKeys(&dice)
        }
        return true
    }

    /// Sets the reducer's clock a little, or a day forwards or back, or right again.
    private func setClock(_ dice: inout SeededRandom) {
        let day: Int64 = 86_400_000
        if abs(process.clock.wallOffset) > day / 2 {
            process.clock.wallOffset = 0
        } else if dice.chance(0.3) {
            process.clock.wallOffset += dice.chance(0.5) ? day : -day
        } else {
            process.clock.wallOffset += Int64(between(0, 60_000)) - 30_000
        }
    }

    /// An operator requests something that changes the loop or its journal.
    private func administer(_ dice: inout SeededRandom) throws(Violation) -> Bool {
        guard process.isUp, let core = process.machine?.journaled else { return false }
        let parked = core.effects.filter { if case .parked = $0.value.status { true } else { false } }.keys.sorted()
        let quarantined = core.quarantine.keys.sorted()
        var wishes: [AdministrationRequest] = [
            .effects(EffectSelection()), .quarantine, .trim(before: dice.next() % (core.seq.value + 1)),
        ]
        if let effect = parked.randomElement(using: &dice) {
            wishes.append(.retryParked(effect: effect.description, who: "simulator"))
        }
        if let id = quarantined.randomElement(using: &dice) {
            wishes += [
                .quarantined(id: id), .retryQuarantined(id: id, who: "simulator"),
                .dropQuarantined(id: id, who: "simulator"),
            ]
        }
        guard let wish = wishes.randomElement(using: &dice) else { return false }
        say("an operator asks: \(wish)")
        if case .retryQuarantined(let id, _) = wish { try observe(.retried(quarantined: id)) }
        process.operatorRequests.append(wish)
        wake(at: now)
        return true
    }

    func cutPush(of peer: Peer, _ dice: inout SeededRandom) -> Bool {
        guard let rest = peer.sockets[here].pusher.connections.cutPresent(&dice) else { return false }
        peer.sockets[here].pusher.connections.stallPresent(until: world.stall())
        peer.sockets[here].pusher.connections.pipes.append(rest)
        peer.sockets[here].pusher.connections.dropEmpty()
        wake(at: now)
        return true
    }

    /// Earlier messages arrive again, over separate connections.
    private func replay(_ peer: Peer, _ dice: inout SeededRandom) -> Bool {
        var (late, batches) = (Pipe<PeerFrame>(), Pipe<Batch>())
        for frame in peer.sockets[here].subscriber.recent.some(&dice) {
            late.append(frame, arrival: now + between(.zero, .seconds(2)))
        }
        for batch in peer.sockets[here].pusher.recent.some(&dice) {
            batches.append(batch, arrival: now + between(.zero, .seconds(2)))
        }
        if late.isEmpty && batches.isEmpty { return false }
        peer.sockets[here].subscriber.connections.insertEarlier(late)
        peer.sockets[here].pusher.connections.insertEarlier(batches)
        at(peer).wake(at: late.readableAt)
        wake(at: batches.readableAt)
        return true
    }

    /// The process is killed, and another one replaces it.
    /// - Returns: whether it ran.
    func kill() throws(Violation) -> Bool {
        guard candidate.hold.standing != .gone else { return false }
        say("candidate \(candidate.index) ends")
        cutConnection()
        if process.isUp { try letGoOfMachine() }
        process.endLife()
        candidate.hold = DatabaseHold()
        candidate.following = nil
        for peer in world.roster.present { loseBuffers(of: peer) }
        world.agenda.note(.reducerStart(life: process.life), at: now + between(.milliseconds(5), .seconds(4)))
        return true
    }

    /// The leader releases the journal behind its last append, accepts nothing more, and stands by.
    func stepDown() -> Bool {
        guard let term = candidate.hold.term, process.isUp, !candidate.hold.isSteppingDown else { return false }
        say("candidate \(candidate.index) steps down")
        candidate.hold.isSteppingDown = true
        send(.release(term))
        return true
    }

    /// The statements of a process take long.
    func stallStatements() -> Bool {
        guard let number = candidate.hold.connection else { return false }
        world.connections[number].stalledUntil = now + between(.milliseconds(100), plan.slowAppendMax)
        return true
    }

    /// The process does not reach the database and does not know it, so it waits for answers that never come.
    func cut(until time: UInt64) {
        candidate.cutUntil = time
        guard let number = candidate.hold.connection, !world.connections[number].isCut else { return }
        world.connections[number].cut(running: pick(world.connections[number].statementCount + 1))
        if chance(0.5) { world.connections[number].stalledUntil = time }
    }

    /// No peer reaches the process.
    func isolate(until time: UInt64) {
        for peer in world.roster.present { peer.sockets[here].cut(.both, until: time) }
    }

    /// The position of forgers among all processes. No process waits for the outcome of what they send.
    private static var forger: Int { -1 }

    /// A batch with the next number of a session whose process is frozen and has nothing under way. When the process continues, it
    /// first learns how far its session is consumed. (Entries that it had sent under that number meanwhile could not be
    /// distinguished.)
    /// - Returns: whether there is such a session.
    func forgeBatch(of peer: Peer) throws(Violation) -> Bool {
        guard process.isUp, peer.life.stage == .running, peer.life.frozenUntil <= now, peer.machine.isJoined,
            peer.machine.outbox.isEmpty,
            peer.machine.history == world.storage.history, peer.sockets[here].pusher.connections.hasPresent,
            !peer.sockets[here].pusher.isDead,
            process.machine?.journaled.sessions[peer.machine.session]?.watermark == peer.machine.outbox.settled
        else { return false }
        var entry = Entry(kind: .event, payload: [0xff, 0x00])
        if chance(0.5), let claim = world.foreignAttempt() {
            (entry.effect, entry.attempt) = (claim.effect, claim.attempt)
            try observe(.forgotten(world.storage.history, claim.effect, claim.attempt))
        }
        let first = peer.machine.outbox.last + 1
        let id = world.tally.nextEntry()
        try observe(.died(peer: Self.forger))
        try observe(
            .accepted(
                SentEntry(
                    id: id, peer: Self.forger, kind: .event, effect: entry.effect, attempt: entry.attempt,
                    index: 0, payload: entry.payload, wantsSeq: false)))
        let session = PeerSession(history: world.storage.history, session: peer.machine.session, peer: peer.id)
        try observe(.sent(session, first: first, ids: [id]))
        let batch = Batch(
            loop: loop.id, history: world.storage.history, session: peer.machine.session, settled: 0, applied: 0,
            first: first,
            entries: EntryRun([entry]))
        peer.sockets[here].pusher.connections.append(batch, arrival: now + latency())
        peer.life.forgedUntil = now + between(.seconds(2), .seconds(4))
        peer.life.frozenUntil = peer.life.forgedUntil
        wake(at: now)
        return true
    }

    /// Copies a client's outbox file. The next time, if the client has sent more since, its process is stopped, and another process
    /// continues with the copy.
    /// - Returns: whether another process continues.
    func restoreOutbox(of peer: Peer) throws(Violation) -> Bool {
        guard peer.role == .client, peer.isAlive, peer.machine.isJoined, peer.machine.history == world.storage.history
        else {
            return false
        }
        guard let copy = peer.faults.copiedStream, copy.session == peer.machine.session,
            let watermark = process.machine?.journaled.sessions[copy.session]?.watermark, watermark > copy.offered
        else {
            if peer.machine.outbox.isEmpty {
                peer.faults.copiedStream = peer.machine.stream(after: peer.machine.lastNumber)
            }
            return false
        }
        peer.life.stage = .gone
        try observe(.died(peer: peer.index))
        let new = try world.addPeer(.client, peer.slot)
        at(new).resume(SimulatedOutbox(copy, of: peer.id))
        say("peer \(new.index) goes on with a copy of the outbox of peer \(peer.index)")
        return true
    }

    // MARK: - How the process ends, and what is lost with it

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
        if losesPower { try loseTail(behind: position) }
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
