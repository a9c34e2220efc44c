import LoopCluster
import LoopCore
import LoopWire

/// Those who only watch: the shipped observer's machine beside a peer's, on the same sockets. (The same order as `PeerShell`.)
extension ClusterEngine {
    func watch(_ watched: SimulationPlan.Watched, _ peer: Peer) throws(Violation) {
        var machine = ObserverMachine(following(watched), at: time(peer))
        machine.brokenRules = brokenRules
        peer.watched = watched
        peer.observer = machine
        if watched.includesStates { peer.follower = follower(watched) }
        peer.topics = machine.topics(of: loop)
        try observe(.watches(peer: peer.index, watched))
    }

    private func following(_ watched: SimulationPlan.Watched) -> Following {
        let name = watched.section.map { work.definition.sections[$0].name } ?? ""
        var following: Following =
            switch watched.mode {
            case .full, .both: .updates(.full, of: name, interval: watched.interval)
            case .delta: .updates(.delta, of: name, interval: watched.interval)
            case .events: Following(.events(fingerprint: fingerprint.value))
            case .transitions: .transitions
            }
        following.transitions = watched.includesTransitions
        return following
    }

    private func follower(_ watched: SimulationPlan.Watched) -> any SimulatedFollower {
        let initial = work.definition.initial
        if watched.mode == .events {
            return TypedFollower(StateFollower(folding: work.definition, coder: coder), coder, initial, brokenRules)
        }
        guard let section = watched.section else {
            return TypedFollower(StateFollower(State.self, coder: coder), coder, initial, brokenRules)
        }
        return work.definition.sections[section].reading.follower(initial, coder, brokenRules)
    }

    /// What an observer knows becomes another state in its memory: the next hash is to show it.
    func damageObserver(_ slot: Int) throws(Violation) {
        guard let peer = present.first(where: { $0.role == .observer && $0.slot == slot && $0.isAlive }),
            peer.follower?.damage() == true
        else { return }
        say("what observer \(peer.index) knows is damaged")
        peer.isDamaged = true
        try observe(.damaged(peer: peer.index))
    }

    /// The publisher knows who listens; it takes a while.
    func subscriptions() -> Subscriptions {
        var subscriptions = Subscriptions()
        for peer in present where peer.isAlive && peer.isConnected && peer.subscribedAt <= now {
            for topic in peer.topics {
                switch topic {
                case .updates(_, let stream):
                    if !subscriptions.streams.contains(stream) { subscriptions.streams.append(stream) }
                case .events: subscriptions.hasEvents = true
                case .transitions: subscriptions.hasTransitions = true
                case .inbox, .tick: break
                }
            }
        }
        return subscriptions
    }

    func publish(_ frame: PeerFrame, on topic: Topic) {
        guard !plan.observers.isEmpty else { return }
        for peer in present where peer.topics.contains(topic) {
            publish(frame, to: peer, on: topic)
        }
    }

    func observe(_ frame: PeerFrame, isReply: Bool, _ peer: Peer) throws(Violation) {
        guard let (history, epoch) = peer.observer.map({ ($0.history, $0.epoch) }) else { return }
        if isReply {
            peer.observer?.receiveReply(frame, at: time(peer))
        } else {
            peer.observer?.receivePublished(frame, at: time(peer))
        }
        if let observer = peer.observer,
            observer.history != history || observer.epoch.number < epoch.number
        {
            peer.shown = nil
            try observe(.beganAnew(peer: peer.index))
        }
        try takeWishes(of: peer, frame.history)
    }

    func advanceObserver(of peer: Peer) throws(Violation) {
        peer.observer?.advance(to: time(peer))
        try takeWishes(of: peer, .none)
    }

    private func takeWishes(of peer: Peer, _ history: History) throws(Violation) {
        var hasDoubted = false
        for wish in peer.observer?.takeActions() ?? [] where !hasDoubted || !wish.buildsOnTheLast {
            switch wish {
            case .send(let message): try send(message, from: peer)
            case .ended: try observeEnd(peer)
            // How well it knows the state is for its shell to find out.
            case .standing: break
            case .refused(let refused): throw Violation(.observersConverge, "observer \(peer.index): \(refused)")
            case .transitions: try observe(.shown(peer: peer.index, history, wish))
            case .missed where peer.watched?.mode != .events: try observe(.shown(peer: peer.index, history, wish))
            case .state, .again, .piece, .assembled, .delta, .events, .hash, .missed:
                if try follow(wish, history, peer) { hasDoubted = true }
            }
        }
    }

    /// What comes of an action for who looks at the observer.
    /// - Returns: whether it did not fit.
    private func follow(_ action: ObserverAction, _ history: History, _ peer: Peer) throws(Violation) -> Bool {
        guard let steps = peer.follower?.take(action) else { return false }
        var hasDoubted = false
        for step in steps {
            switch step {
            case .shows(let seq, let bytes):
                let isAgain = peer.shown.map { $0 == (history, seq) } ?? false
                peer.shown = (history, seq)
                let shown: ObserverAction = isAgain ? .again(seq, bytes) : .state(seq, bytes)
                try observe(.shown(peer: peer.index, history, shown))
            case .misses(let seqs): try observe(.shown(peer: peer.index, history, .missed(seqs)))
            case .doubts(let doubt, let shown):
                guard peer.isDamaged else {
                    throw Violation(.observersConverge, "observer \(peer.index) was told what does not fit: \(doubt)")
                }
                peer.isDamaged = false
                try observe(.repaired(peer: peer.index))
                peer.observer?.distrust(shown: shown)
                hasDoubted = true
                wake(peer, at: now)
            }
        }
        return hasDoubted
    }
}

extension SectionReading {
    fileprivate func follower(
        _ initial: State, _ coder: any ValueCoder, _ rules: BrokenRules
    ) -> any SimulatedFollower {
        TypedFollower(StateFollower(Value.self, coder: coder), coder, value(in: initial), rules)
    }
}

/// Makes states of what an observer's machine hands out, as encoded values for the checkers.
protocol SimulatedFollower: Sendable {
    mutating func take(_ action: ObserverAction) -> [SimulatedStep]

    /// - Returns: whether what it knows is another state now.
    mutating func damage() -> Bool
}

/// What comes of an observer's action.
enum SimulatedStep {
    case shows(Seq, [UInt8])
    case misses(ClosedRange<Seq>)
    case doubts(StateDoubt, shown: Seq?)
}

struct TypedFollower<Value: Codable & Sendable>: SimulatedFollower {
    private var follower: StateFollower<Value>
    private let coder: any ValueCoder
    private let initial: Value

    /// - Parameter initial: what a damaged state becomes.
    init(_ follower: StateFollower<Value>, _ coder: any ValueCoder, _ initial: Value, _ rules: BrokenRules) {
        self.follower = follower
        self.follower.brokenRules = rules
        self.coder = coder
        self.initial = initial
    }

    mutating func take(_ action: ObserverAction) -> [SimulatedStep] {
        var steps: [SimulatedStep] = []
        var doubt: StateDoubt?
        follower.take(action) { [coder] step in
            switch step {
            case .shows(let seq, let value): steps.append(.shows(seq, (try? coder.encode(value)) ?? []))
            case .misses(let seqs): steps.append(.misses(seqs))
            case .doubts(let new): doubt = new
            }
        }
        if let doubt { steps.append(.doubts(doubt, shown: follower.current?.seq)) }
        return steps
    }

    mutating func damage() -> Bool {
        guard let current = follower.current, (try? coder.encode(current.value)) != (try? coder.encode(initial)) else {
            return false
        }
        follower.damage(initial)
        return true
    }
}

extension PeerFrame {
    /// Whether it was published for all who watch, and not for one peer.
    var isForObservers: Bool {
        switch message {
        case .update, .delta, .unchanged, .stateHash, .transitions: true
        // In an inbox a tick tells one peer of a new epoch.
        case .commonTick, .ended: session == .none
        default: false
        }
    }
}
