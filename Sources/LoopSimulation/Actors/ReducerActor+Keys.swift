import LoopCluster
import LoopKeys
import LoopWire

/// Keys: which connections are allowed, and what happens to them when keys change. (Protocol, section 12.)
extension ReducerActor {
    /// Whether a process has connections. A process whose key is not admitted tries again and again.
    func isConnected(_ peer: Peer) -> Bool {
        guard let key = world.key(of: peer) else { return true }
        return candidate.keys.admits(key)
    }

    /// The reducer reads its folder. Connections of keys whose rights have changed end, and are made again.
    func admitKeys(_ intake: inout ReducerMachine) throws(Violation) {
        guard let keys = world.keys, let (cut, added) = candidate.keys.read(keys) else { return }
        intake.admit(candidate.keys.allowed)
        if isLeading { try observe(.keysAdmitted(candidate.keys.allowed)) }
        for peer in world.roster.present {
            guard let key = world.key(of: peer) else { continue }
            if cut.contains(key) { try closeConnections(of: peer, key, &intake) }
            if added.contains(key) { connect(peer) }
        }
        world.hostiles.endListeners { cut.contains($1.key) }
        try world.replaceRefused()
    }

    /// Messages that libzmq had read before are still passed to the machine.
    private func closeConnections(of peer: Peer, _ key: PublicKey, _ intake: inout ReducerMachine) throws(Violation) {
        for _ in 0..<pick(4) {
            guard let message = peer.sockets[here].dealer.toReducer.popFirst() else { break }
            try hand(message, from: .router(peer.sockets[here].dealer.route), by: .key(key), &intake)
        }
        for pipe in peer.sockets[here].pusher.connections.pipes.indices {
            for _ in 0..<pick(4) {
                guard let batch = peer.sockets[here].pusher.connections.pipes[pipe].popFirst() else { break }
                try hand(batch, by: .key(key), &intake)
            }
        }
        at(peer).renewRoute(at: here)
        if peer.sockets[here].subscriber.isConnected { peer.sockets[here].subscriber.connections.pipes = [] }
    }

    /// Messages that wait in PUSH leave over the new connection.
    private func connect(_ peer: Peer) {
        at(peer).renewRoute(at: here)
        if peer.sockets[here].subscriber.isConnected { renewSubscription(of: peer) }
        at(peer).wake(at: now)
    }

    // MARK: What reaches the machine

    /// Passes a message to the machine, and shows the checkers what it has changed.
    func hand(
        _ message: ToReducer, from route: Route, by principal: Principal, _ intake: inout ReducerMachine
    ) throws(Violation) {
        let before = intake.progress
        world.transfers.note(message, from: route, at: now)
        intake.receive(message, from: route, by: principal)
        try judge(.message(message), principal, from: before, to: intake.progress)
    }

    /// Passes a batch to the machine. If it is not refused, it must be read.
    func hand(_ batch: Batch, by principal: Principal, _ intake: inout ReducerMachine) throws(Violation) {
        let before = intake.progress
        let read = intake.read(of: batch.session)
        intake.receive(batch, by: principal)
        let after = intake.progress
        if batch.history == world.storage.history, before.refusalCount == after.refusalCount {
            world.reads.note(batch, after: read)
        }
        try judge(.batch(batch), principal, from: before, to: after)
    }

    /// Whether a subscription is allowed.
    func mayFollow(
        _ topic: Topic, _ principal: Principal, of peer: PeerID?, _ intake: inout ReducerMachine
    ) throws(Violation) -> Bool {
        let before = intake.progress
        let may = intake.mayFollow(topic, principal, of: peer)
        try judge(.subscription(topic), principal, from: before, to: intake.progress)
        return may
    }

    /// The publisher learns of the subscriptions of a connection. The first that is not allowed ends the connection.
    /// - Returns: whether all are allowed.
    func mayFollowAll(_ peer: Peer, _ intake: inout ReducerMachine) throws(Violation) -> Bool {
        guard world.keys != nil else { return true }
        for topic in [.inbox(loop.id, peer.id)] + peer.sockets[here].subscriber.topics {
            if try mayFollow(topic, world.principal(of: peer), of: peer.id, &intake) { continue }
            peer.sockets[here].subscriber.connections.pipes = []
            peer.sockets[here].subscriber.reconnect(knownFrom: now + 200_000_000)
            wake(at: peer.sockets[here].subscriber.knownFrom)
            return false
        }
        return true
    }

    /// The decisions of a process that was replaced as leader have no effect, because it will get no receipt.
    private func judge(
        _ heard: Heard, _ principal: Principal, from before: TurnProgress, to after: TurnProgress
    ) throws(Violation) {
        if world.keys != nil, isLeading { try observe(.judged(heard, by: principal, from: before, to: after)) }
    }
}
