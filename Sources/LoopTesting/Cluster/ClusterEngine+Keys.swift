import LoopCluster
import LoopCore
import LoopKeys
import LoopWire

/// Keys: whose each connection is, which connections stand, and what becomes of them when keys change. (Protocol, section 12.)
extension ClusterEngine {
    /// Who a process is to the reducer, as its connections prove.
    func principal(of peer: Peer) -> Principal { key(of: peer).map { .key($0) } ?? .unknown }

    private func key(of peer: Peer) -> PublicKey? {
        guard keys != nil else { return nil }
        return switch peer.role {
        case .worker: SimulatedKeys.key(.worker, peer.slot)
        case .client: SimulatedKeys.key(.client, peer.slot)
        case .observer: SimulatedKeys.key(.observer, peer.slot)
        case .local: nil
        }
    }

    /// Whether a process has connections. One whose key is not admitted tries again and again.
    func isConnected(_ peer: Peer) -> Bool {
        guard let key = key(of: peer) else { return true }
        return candidate.keys.admits(key)
    }

    // MARK: Changes

    /// An operator changes the folder.
    func changeKeys(_ dice: inout SeededRandom) -> Bool {
        guard let change = keys?.change(&dice) else { return false }
        say(change)
        wakeCandidates()
        return true
    }

    /// Every key gets its first roles and groups again, and the hostile processes end.
    func restoreKeys() {
        keys?.restore()
        hostiles.end()
        wakeCandidates()
    }

    /// The reducer reads its folder. Connections of keys that may do something else now end, and are made again.
    func admitKeys(_ intake: inout ReducerCore) throws(Violation) {
        guard let keys, let (cut, added) = candidate.keys.read(keys) else { return }
        intake.admit(candidate.keys.allowed)
        if isLeading { try observe(.keysAdmitted(candidate.keys.allowed)) }
        for peer in roster.present {
            guard let key = key(of: peer) else { continue }
            if cut.contains(key) { try closeConnections(of: peer, key, &intake) }
            if added.contains(key) { connect(peer) }
        }
        hostiles.endListeners { cut.contains($1.key) }
        try replaceRefused()
    }

    /// What libzmq had read before is still handed to the machine.
    private func closeConnections(of peer: Peer, _ key: PublicKey, _ intake: inout ReducerCore) throws(Violation) {
        for _ in 0..<pick(4) {
            guard let message = peer.sockets.dealer.toReducer.popFirst() else { break }
            try hand(message, from: .router(peer.sockets.dealer.route), by: .key(key), &intake)
        }
        for pipe in peer.sockets.pusher.connections.pipes.indices {
            for _ in 0..<pick(4) {
                guard let batch = peer.sockets.pusher.connections.pipes[pipe].popFirst() else { break }
                try hand(batch, by: .key(key), &intake)
            }
        }
        renewRoute(of: peer)
        if peer.sockets.subscriber.isConnected { peer.sockets.subscriber.connections.pipes = [] }
    }

    /// What waits in PUSH leaves over the new connection.
    private func connect(_ peer: Peer) {
        renewRoute(of: peer)
        if peer.sockets.subscriber.isConnected { renewSubscription(of: peer) }
        wake(peer, at: now)
    }

    // MARK: Refusals

    /// A process was told that it may not do what it does, and has ended. Its supervisor starts it again when keys have changed.
    /// Where its session is another key's, that lasts: an operator begins another outbox, as the refusal says.
    func endRefused(_ peer: Peer, _ refused: Refused) throws(Violation) {
        guard keys != nil, refused.what.isOfKeys else {
            throw Violation(
                peer.role == .observer ? .observersConverge : .progress,
                "\(peer.role) \(peer.index) is not let in: \(refused)")
        }
        guard peer.isAlive else { return }
        say("\(peer.role) \(peer.index) ends: \(refused)")
        try end(peer)
        if refused.what == .session { peer.outbox = nil }
        refusedPeers.append(peer)
        // No key changes any more.
        if !isFaulty { try replaceRefused() }
    }

    private func replaceRefused() throws(Violation) {
        let gone = refusedPeers
        refusedPeers = []
        for peer in gone { try replace(peer) }
    }

    // MARK: What reaches the machine

    /// Hands a message to the machine, and shows the checkers what it has changed.
    func hand(
        _ message: ToReducer, from route: Route, by principal: Principal, _ intake: inout ReducerCore
    ) throws(Violation) {
        let before = intake.progress
        transfers.note(message, from: route, at: now)
        intake.receive(message, from: route, by: principal)
        try judge(.message(message), principal, from: before, to: intake.progress)
    }

    /// Hands a batch to the machine. What is not refused must be read.
    func hand(_ batch: Batch, by principal: Principal, _ intake: inout ReducerCore) throws(Violation) {
        let before = intake.progress
        let read = intake.read(of: batch.session)
        intake.receive(batch, by: principal)
        let after = intake.progress
        if batch.history == storage.history, before.refusalCount == after.refusalCount {
            reads.note(batch, after: read)
        }
        try judge(.batch(batch), principal, from: before, to: after)
    }

    /// Whether a subscription may stand.
    func mayFollow(
        _ topic: Topic, _ principal: Principal, of peer: PeerID?, _ intake: inout ReducerCore
    ) throws(Violation) -> Bool {
        let before = intake.progress
        let may = intake.mayFollow(topic, principal, of: peer)
        try judge(.subscription(topic), principal, from: before, to: intake.progress)
        return may
    }

    /// The publisher hears of the subscriptions of a connection. It ends with the first that may not be.
    /// - Returns: whether the connection stands.
    func mayFollowAll(_ peer: Peer, _ intake: inout ReducerCore) throws(Violation) -> Bool {
        guard keys != nil else { return true }
        for topic in [.inbox(loop.id, peer.id)] + peer.sockets.subscriber.topics {
            if try mayFollow(topic, principal(of: peer), of: peer.id, &intake) { continue }
            peer.sockets.subscriber.connections.pipes = []
            peer.sockets.subscriber.reconnect(knownFrom: now + 200_000_000)
            wakeReducer(at: peer.sockets.subscriber.knownFrom)
            return false
        }
        return true
    }

    /// What a process decides that another one has deposed has no effect: it will get no receipt.
    private func judge(
        _ heard: Heard, _ principal: Principal, from before: TurnProgress, to after: TurnProgress
    ) throws(Violation) {
        if keys != nil, isLeading { try observe(.judged(heard, by: principal, from: before, to: after)) }
    }
}
