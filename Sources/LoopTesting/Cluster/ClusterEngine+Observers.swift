import LoopCluster
import LoopCore
import LoopWire

/// Those who only watch: the shipped observer's machine beside a peer's, on the same sockets. (The same order as `PeerShell`.)
extension ClusterEngine {
    func watch(_ watched: SimulationPlan.Watched, _ peer: Peer) throws(Violation) {
        var machine = ObserverMachine(
            states: watched.includesStates, transitions: watched.includesTransitions, at: time(peer))
        machine.brokenRules = brokenRules
        peer.watched = watched
        peer.observer = machine
        peer.topics = machine.topics(of: loop)
        try observe(.watches(peer: peer.index, states: watched.includesStates))
    }

    /// The publisher knows who listens; it takes a while.
    func countSubscriptions() {
        var subscriptions = Subscriptions()
        for peer in present where peer.isAlive && peer.isConnected && peer.subscribedAt <= now {
            guard let watched = peer.watched else { continue }
            if watched.includesStates { subscriptions.updates += 1 }
            if watched.includesTransitions { subscriptions.transitions += 1 }
        }
        reducer?.subscriptions = subscriptions
    }

    func publish(_ frame: PeerFrame, on topic: Topic) {
        guard !plan.observers.isEmpty else { return }
        for peer in present where peer.topics.contains(topic) {
            publish(frame, to: peer, on: topic)
        }
    }

    func observe(_ frame: PeerFrame, isReply: Bool, _ peer: Peer) throws(Violation) {
        if isReply {
            peer.observer?.receiveReply(frame, at: time(peer))
        } else {
            peer.observer?.receivePublished(frame, at: time(peer))
        }
        try takeWishes(of: peer, frame.history)
    }

    func advanceObserver(of peer: Peer) throws(Violation) {
        peer.observer?.advance(to: time(peer))
        try takeWishes(of: peer, .none)
    }

    private func takeWishes(of peer: Peer, _ history: History) throws(Violation) {
        for wish in peer.observer?.takeActions() ?? [] {
            switch wish {
            case .send(let message): send(message, from: peer)
            case .ended:
                guard hasEnded else {
                    throw Violation(
                        .durableBeforeVisible, "observer \(peer.index) was told that the loop has ended")
                }
            // How well it knows the state is for its shell to find out.
            case .standing: break
            case .state, .transitions, .missed: try observe(.shown(peer: peer.index, history, wish))
            }
        }
    }
}

extension SimulationPlan.Watched {
    var includesStates: Bool { self != .transitions }
    var includesTransitions: Bool { self != .states }
}

extension PeerFrame {
    /// Whether it was published for all who watch, and not for one peer.
    var isForObservers: Bool {
        switch message {
        case .update, .transitions: true
        // In an inbox a tick tells one peer of a new epoch.
        case .commonTick, .ended: session == .none
        default: false
        }
    }
}
