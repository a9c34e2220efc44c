import LoopCluster
import LoopCore

/// What goes wrong.
extension SimulatedCluster {
    func fault() throws(Violation) {
        let alive = peers.filter(\.isAlive)
        guard let kind = plan.faults.randomElement(using: &random),
            let peer = alive.randomElement(using: &random)
        else { return }
        faultCount += 1
        say("fault: \(kind) at peer \(peer.index)")
        switch kind {
        case .burst: peer.burst = Int.random(in: 2...12, using: &random)
        case .push: cutPush(of: peer)
        case .subscription:
            guard peer.isConnected, let last = peer.subscriber.pipes.indices.last else { return }
            // What was behind the cut is gone; the publisher does not send it again.
            _ = peer.subscriber.pipes[last].cut(&random)
            peer.subscriber.pipes[last].stalledUntil = stall()
            renewSubscription(of: peer)
        case .dealer: renewRoute(of: peer)
        case .deadSubscription: peer.isSubscriberDead = true
        case .deadPush: peer.isPusherDead = true
        case .lostCollector:
            peer.isPusherDead = true
            peer.collectorLostUntil = now + between(plan.silenceLimit, plan.silenceLimit * 8)
        case .freeze: peer.frozenUntil = now + between(.milliseconds(200), plan.silenceLimit * 4)
        case .kill: try kill(peer)
        case .stop:
            guard peer.role == .worker, !peer.isLeaving else { return }
            peer.isLeaving = true
            peer.machine.stop(at: time(peer))
            try settleAccounts(of: peer)
            wake(peer, at: now)
        case .reducerFreeze: reducerFrozenUntil = now + between(.milliseconds(200), plan.silenceLimit * 3)
        case .crash: try crashReducer()
        case .slowDisk: isNextAppendSlow = true
        }
    }

    func stall() -> UInt64 {
        now + ([0, 300, 2000, 6000].randomElement(using: &random) ?? 0) * 1_000_000
    }

    private func cutPush(of peer: SimulatedPeer) {
        guard let last = peer.pusher.pipes.indices.last else { return }
        let new = peer.pusher.pipes[last].cut(&random)
        peer.pusher.pipes[last].stalledUntil = stall()
        peer.pusher.pipes.append(new)
        peer.pusher.dropEmpty()
        wakeReducer(at: now)
    }

    private func kill(_ peer: SimulatedPeer) throws(Violation) {
        peer.isAlive = false
        peer.bodies = [:]
        peersByRoute[peer.route] = nil
        try observe(.died(peer: peer.index))
        addPeer(peer.role)
    }

    /// From here on everything works, and everything must settle.
    func endFaults() {
        say("the faults end")
        reducerFrozenUntil = 0
        wakeReducer(at: now)
        for peer in peers {
            peer.frozenUntil = 0
            peer.burst = 0
            for pipe in peer.pusher.pipes.indices { peer.pusher.pipes[pipe].stalledUntil = 0 }
            for pipe in peer.subscriber.pipes.indices { peer.subscriber.pipes[pipe].stalledUntil = 0 }
            wake(peer, at: now)
        }
    }
}
