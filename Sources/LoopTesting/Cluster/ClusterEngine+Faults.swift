import LoopCluster
import LoopCore
import LoopWire

/// What goes wrong.
extension ClusterEngine {
    /// Draws the next fault with its own generator, so that leaving it out leaves all others as they are.
    func drawFault() throws(Violation) {
        let number = faultsDrawn
        faultsDrawn += 1
        var dice = scenario.dice(of: number)
        _ = dice.next()
        let kind = plan.drawFault(&dice)
        let share = dice.fraction()
        guard !scenario.withoutFaults.contains(number) else { return }
        let alive = present.filter { $0.isAlive && $0.role != .local }
        guard !alive.isEmpty else { return }
        let peer = alive[min(Int(share * Double(alive.count)), alive.count - 1)]
        say("fault \(number): \(kind) at peer \(peer.index)")
        if try fault(kind, peer, &dice) { faultCounts[kind, default: 0] += 1 }
    }

    /// - Returns: whether there was something to break.
    func fault(
        _ kind: SimulationPlan.Fault, _ peer: Peer, _ dice: inout SeededRandom
    ) throws(Violation) -> Bool {
        switch kind {
        case .burst: peer.burst = Int.random(in: 2...12, using: &dice)
        case .push: return cutPush(of: peer, &dice)
        case .subscription:
            guard peer.isConnected, let last = peer.subscriber.pipes.indices.last else { return false }
            // What was behind the cut is gone; the publisher does not send it again.
            _ = peer.subscriber.pipes[last].cut(&dice)
            peer.subscriber.pipes[last].stalledUntil = stall()
            renewSubscription(of: peer)
        case .dealer: renewRoute(of: peer)
        case .deadSubscription: peer.isSubscriberDead = true
        case .deadPush: peer.isPusherDead = true
        case .lostCollector:
            peer.isPusherDead = true
            peer.collectorLostUntil = now + between(plan.silenceLimit, plan.silenceLimit * 8)
        case .partition:
            let direction = [Happenings.Direction.both, .fromReducer, .toReducer].randomElement(using: &dice) ?? .both
            cut(peer, direction, until: now + between(plan.silenceLimit / 2, plan.silenceLimit * 8))
        case .replay: return replay(peer, &dice)
        case .freeze: peer.frozenUntil = now + between(.milliseconds(200), plan.silenceLimit * 4)
        case .kill: try kill(peer)
        case .stop: return try stop(peer)
        case .reducerFreeze: reducerFrozenUntil = now + between(.milliseconds(200), plan.silenceLimit * 3)
        case .crash:
            guard isReducerUp else { return false }
            try crashReducer()
        case .crashInReduction: trap.endsAtNext = true
        case .powerLoss:
            guard isReducerUp else { return false }
            try crashReducer(losesPower: true)
        case .restart: try stopReducer()
        case .slowDisk: isNextAppendSlow = true
        case .failingDisk: isNextAppendFailing = plan.keeping != .memory
        case .fullDisk: diskFailsUntil = plan.keeping == .memory ? 0 : now + between(.milliseconds(200), .seconds(6))
        case .damagedSnapshot: return disk?.damageNewestSnapshot() ?? false
        case .secondReducer: return try startSecondReducer()
        case .poison: peer.sendsPoison = true
        // An effect that is to be retried later waits longer by as much as the clock was set back.
        case .clockSet: wallOffset += Int64(between(0, 60_000)) - 30_000
        case .administration: return try administer(&dice)
        case .earlierSession: peer.hearsEarlierSession = true
        case .quietLoss:
            guard plan.keeping == .os || plan.keeping == .none else { return false }
            awaitedLoss = (dice.fraction() < 0.5 ? .event : .attemptEnd, endsAgain: dice.fraction() < 0.5)
        case .forgetfulClaim:
            guard isReducerUp, peer.role == .worker, plan.keeping != .memory else { return false }
            peer.forgetsClaims = true
            peer.forgetfulEpoch = nil
            awaitedLoss = (.refusal, endsAgain: false)
            try crashReducer()
        case .copy:
            guard plan.keeping != .memory else { return false }
            disk?.makeCopy()
        case .restored: return try putBackCopy()
        case .forgedBatch: return try forgeBatch(of: peer)
        case .copiedOutbox: return try restoreOutbox(of: peer)
        }
        return true
    }

    /// An operator asks for something that changes the loop or its journal.
    private func administer(_ dice: inout SeededRandom) throws(Violation) -> Bool {
        guard isReducerUp, let core = reducer?.core else { return false }
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
        operatorRequests.append(wish)
        wakeReducer(at: now)
        return true
    }

    func stall() -> UInt64 {
        now + ([0, 300, 2000, 6000].randomElement(using: &random) ?? 0) * 1_000_000
    }

    func cutPush(of peer: Peer, _ dice: inout SeededRandom) -> Bool {
        guard let last = peer.pusher.pipes.indices.last else { return false }
        let new = peer.pusher.pipes[last].cut(&dice)
        peer.pusher.pipes[last].stalledUntil = stall()
        peer.pusher.pipes.append(new)
        peer.pusher.dropEmpty()
        wakeReducer(at: now)
        return true
    }

    /// Messages of the past come again, over connections of their own.
    private func replay(_ peer: Peer, _ dice: inout SeededRandom) -> Bool {
        var (late, batches) = (Pipe<PeerFrame>(), Pipe<Batch>())
        for frame in peer.recentFrames.some(&dice) { late.append(frame, arrival: now + between(.zero, .seconds(2))) }
        for batch in peer.recentBatches.some(&dice) {
            batches.append(batch, arrival: now + between(.zero, .seconds(2)))
        }
        if late.isEmpty && batches.isEmpty { return false }
        if !late.isEmpty, !peer.subscriber.pipes.isEmpty { peer.subscriber.pipes.insert(late, at: 0) }
        if !batches.isEmpty, !peer.pusher.pipes.isEmpty { peer.pusher.pipes.insert(batches, at: 0) }
        wake(peer, at: late.readableAt)
        wakeReducer(at: batches.readableAt)
        return true
    }

    /// A worker is asked to go.
    @discardableResult
    func stop(_ peer: Peer) throws(Violation) -> Bool {
        guard peer.role == .worker, !peer.isLeaving else { return false }
        peer.isLeaving = true
        peer.machine.stop(at: time(peer))
        try settleAccounts(of: peer)
        wake(peer, at: now)
        return true
    }

    func kill(_ peer: Peer) throws(Violation) {
        peer.isAlive = false
        goneAt[peer.id] = now
        peer.bodies.removeAll()
        try observe(.died(peer: peer.index))
        try addPeer(peer.role, peer.slot)
    }

    /// From here on everything works, and everything must settle.
    func endFaults() {
        say("the faults end")
        reducerFrozenUntil = 0
        awaitedLoss = nil
        endsAgainAt = .max
        diskFailsUntil = 0
        isNextAppendFailing = false
        trap.endsAtNext = false
        wakeReducer(at: now)
        for peer in present {
            peer.frozenUntil = 0
            peer.forgetsClaims = false
            peer.burst = 0
            peer.cutFromReducerUntil = 0
            peer.cutToReducerUntil = 0
            for pipe in peer.pusher.pipes.indices { peer.pusher.pipes[pipe].stalledUntil = 0 }
            for pipe in peer.subscriber.pipes.indices { peer.subscriber.pipes[pipe].stalledUntil = 0 }
            wake(peer, at: now)
        }
    }
}
