import LoopCluster
import LoopCore
import LoopWire

/// The faults of a run.
extension ClusterEngine {
    /// Draws the next fault with a separate generator, so that leaving it out does not change the others.
    func drawFault() throws(Violation) {
        let number = tally.faultsDrawn
        tally.faultsDrawn += 1
        var dice = scenario.dice(of: number)
        _ = dice.next()
        let kind = plan.drawFault(&dice)
        let share = dice.fraction()
        guard !scenario.withoutFaults.contains(number) else { return }
        let alive = roster.living.filter { $0.role != .local }
        guard !alive.isEmpty else { return }
        let peer = alive[min(Int(share * Double(alive.count)), alive.count - 1)]
        if candidates.count > 1 { focusForFault(&dice) }
        say("fault \(number): \(kind) at peer \(peer.index)")
        if try fault(kind, peer, &dice) { tally.faultCounts[kind, default: 0] += 1 }
    }

    /// - Returns: whether there was something to break.
    func fault(
        _ kind: SimulationPlan.Fault, _ peer: Peer, _ dice: inout SeededRandom
    ) throws(Violation) -> Bool {
        switch kind {
        case .burst: peer.sockets.subscriber.dropCount = Int.random(in: 2...12, using: &dice)
        case .push: return cutPush(of: peer, &dice)
        case .subscription:
            guard peer.sockets.subscriber.isConnected else { return false }
            // Messages under way are lost, and the publisher does not send them again.
            _ = peer.sockets.subscriber.connections.cutPresent(&dice)
            peer.sockets.subscriber.connections.stallPresent(until: stall())
            renewSubscription(of: peer)
        case .dealer:
            renewRoute(of: peer)
            peer.sockets.dealer.isDead = storage.database == nil && dice.chance(0.15)
        case .deadSubscription: peer.sockets.subscriber.isDead = true
        case .deadPush:
            if dice.fraction() < 0.5 {
                peer.sockets.pusher.isDead = true
            } else {
                peer.sockets.pusher.takesNothing = true
            }
        case .lostCollector:
            peer.sockets.pusher.isDead = true
            peer.sockets.pusher.lostUntil = now + between(plan.silenceLimit, plan.silenceLimit * 8)
        case .partition:
            let direction = [Timeline.Direction.both, .fromReducer, .toReducer].randomElement(using: &dice) ?? .both
            peer.sockets.cut(direction, until: now + between(plan.silenceLimit / 2, plan.silenceLimit * 8))
        case .replay: return replay(peer, &dice)
        case .freeze: peer.life.frozenUntil = now + between(.milliseconds(200), plan.silenceLimit * 4)
        case .kill: try kill(peer)
        case .stop: return try stop(peer)
        case .reducerFreeze: process.frozenUntil = now + between(.milliseconds(200), plan.silenceLimit * 3)
        case .crash:
            if storage.database != nil { return try killCandidate() }
            guard process.isUp else { return false }
            try crashReducer()
        case .crashInReduction: process.trap.endsAtNext = true
        case .powerLoss:
            guard process.isUp else { return false }
            try crashReducer(losesPower: true)
        case .restart: try stopReducer()
        case .stepDown: return stepDown()
        case .slowDisk where storage.database != nil: return stallStatements()
        case .lostConnection: return try loseConnection()
        case .candidateCut: cutCandidate(until: now + between(.milliseconds(300), .seconds(7)))
        case .isolation: isolate(until: now + between(.milliseconds(300), plan.silenceLimit * 5))
        case .databaseAway: storage.awayUntil = now + between(.milliseconds(200), .seconds(7))
        case .failover: return beginFailover(&dice)
        case .stillSource: return stopSource(&dice)
        case .slowDisk: storage.faults.isNextSlow = true
        case .failingDisk: storage.faults.isNextFailing = plan.keeping != .memory
        case .fullDisk:
            storage.faults.fullUntil = plan.keeping == .memory ? 0 : now + between(.milliseconds(200), .seconds(6))
        case .damagedSnapshot: return storage.disk?.damageNewestSnapshot() ?? false
        case .secondReducer: return try startSecondReducer()
        case .poison: peer.faults.sendsPoison = true
        case .clockSet: setClock(&dice)
        case .administration: return try administer(&dice)
        case .earlierSession: peer.sockets.subscriber.hearsEarlierSession = true
        case .quietLoss:
            guard plan.keeping == .os || plan.keeping == .none else { return false }
            storage.awaitedLoss = AwaitedLoss(
                of: dice.fraction() < 0.5 ? .event : .attemptEnd, endsAgain: dice.fraction() < 0.5)
        case .forgetfulClaim:
            guard process.isUp, peer.role == .worker, plan.keeping != .memory else { return false }
            peer.faults.forgetsClaims = true
            peer.faults.forgetfulEpoch = nil
            storage.awaitedLoss = AwaitedLoss(of: .refusal, endsAgain: false)
            try crashReducer()
        case .copy:
            guard plan.keeping != .memory else { return false }
            storage.disk?.makeCopy()
        case .restored: return try putBackCopy()
        case .forgedBatch: return try forgeBatch(of: peer)
        case .copiedOutbox: return try restoreOutbox(of: peer)
        case .hostile: return try actHostilely(&dice)
        case .keysChanged: return changeKeys(&dice)
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
        var wishes: [AdministrationRequest] = [.parked, .quarantine, .trim(before: dice.next() % (core.seq.value + 1))]
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
        wakeReducer(at: now)
        return true
    }

    func stall() -> UInt64 {
        now + ([0, 300, 2000, 6000].randomElement(using: &random) ?? 0) * 1_000_000
    }

    func cutPush(of peer: Peer, _ dice: inout SeededRandom) -> Bool {
        guard let rest = peer.sockets.pusher.connections.cutPresent(&dice) else { return false }
        peer.sockets.pusher.connections.stallPresent(until: stall())
        peer.sockets.pusher.connections.pipes.append(rest)
        peer.sockets.pusher.connections.dropEmpty()
        wakeReducer(at: now)
        return true
    }

    /// Earlier messages arrive again, over separate connections.
    private func replay(_ peer: Peer, _ dice: inout SeededRandom) -> Bool {
        var (late, batches) = (Pipe<PeerFrame>(), Pipe<Batch>())
        for frame in peer.sockets.subscriber.recent.some(&dice) {
            late.append(frame, arrival: now + between(.zero, .seconds(2)))
        }
        for batch in peer.sockets.pusher.recent.some(&dice) {
            batches.append(batch, arrival: now + between(.zero, .seconds(2)))
        }
        if late.isEmpty && batches.isEmpty { return false }
        peer.sockets.subscriber.connections.insertEarlier(late)
        peer.sockets.pusher.connections.insertEarlier(batches)
        wake(peer, at: late.readableAt)
        wakeReducer(at: batches.readableAt)
        return true
    }

    /// Makes a worker leave, or a client if another process continues its stream.
    @discardableResult
    func stop(_ peer: Peer) throws(Violation) -> Bool {
        guard peer.role == .worker || peer.outbox != nil, peer.life.stage == .running else { return false }
        peer.life.stage = .leaving
        peer.machine.stop(at: time(peer))
        try settleAccounts(of: peer)
        wake(peer, at: now)
        return true
    }

    func kill(_ peer: Peer) throws(Violation) {
        try end(peer)
        try replace(peer)
    }

    /// A process ends, with everything that it had.
    func end(_ peer: Peer) throws(Violation) {
        peer.life.stage = .gone
        roster.noteKilled(peer, at: now)
        peer.bodies.removeAll()
        try observe(.died(peer: peer.index))
    }

    /// From now on nothing fails, and everything must settle.
    func endFaults() throws(Violation) {
        say("the faults end")
        for index in candidates.indices {
            focus(on: index)
            process.frozenUntil = 0
            wakeReducer(at: now)
        }
        healDatabase()
        storage.awaitedLoss = nil
        process.endsAgainAt = .max
        storage.faults.heal()
        process.trap.endsAtNext = false
        wakeReducer(at: now)
        for peer in roster.present {
            // The number of a forged batch is not used again before its owner learns of it.
            peer.life.frozenUntil = peer.life.forgedUntil
            peer.faults.forgetsClaims = false
            peer.heal()
            wake(peer, at: now)
        }
        restoreKeys()
        if plan.isUnguarded { latecomer = try addPeer(.worker, 0) }
    }
}
