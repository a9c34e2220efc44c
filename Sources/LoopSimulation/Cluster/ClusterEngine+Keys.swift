import LoopCluster
import LoopCore
import LoopKeys
import LoopWire

/// Keys: the owner of each connection, which connections are allowed, and what happens to them when keys change. (Protocol, section
/// 12.)
extension ClusterEngine {
    /// The principal of a process, as its connections prove.
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

    /// Whether a process has connections. A process whose key is not admitted tries again and again.
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

    /// The reducer reads its folder. Connections of keys whose rights have changed end, and are made again.
    func admitKeys(_ intake: inout ReducerMachine) throws(Violation) {
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

    /// Messages that libzmq had read before are still passed to the machine.
    private func closeConnections(of peer: Peer, _ key: PublicKey, _ intake: inout ReducerMachine) throws(Violation) {
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

    /// Messages that wait in PUSH leave over the new connection.
    private func connect(_ peer: Peer) {
        renewRoute(of: peer)
        if peer.sockets.subscriber.isConnected { renewSubscription(of: peer) }
        wake(peer, at: now)
    }

    // MARK: Refusals

    /// A process was refused for its key, and has ended. Its supervisor starts it again when keys have changed. If its session is
    /// another key's, the refusal is permanent. Then an operator begins another outbox, as the refusal says.
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

    /// Passes a message to the machine, and shows the checkers what it has changed.
    func hand(
        _ message: ToReducer, from route: Route, by principal: Principal, _ intake: inout ReducerMachine
    ) throws(Violation) {
        let before = intake.progress
        transfers.note(message, from: route, at: now)
        intake.receive(message, from: route, by: principal)
        try judge(.message(message), principal, from: before, to: intake.progress)
    }

    /// Passes a batch to the machine. If it is not refused, it must be read.
    func hand(_ batch: Batch, by principal: Principal, _ intake: inout ReducerMachine) throws(Violation) {
        let before = intake.progress
        let read = intake.read(of: batch.session)
        intake.receive(batch, by: principal)
        let after = intake.progress
        if batch.history == storage.history, before.refusalCount == after.refusalCount {
            reads.note(batch, after: read)
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

    /// The decisions of a process that was replaced as leader have no effect, because it will get no receipt.
    private func judge(
        _ heard: Heard, _ principal: Principal, from before: TurnProgress, to after: TurnProgress
    ) throws(Violation) {
        if keys != nil, isLeading { try observe(.judged(heard, by: principal, from: before, to: after)) }
    }
}
