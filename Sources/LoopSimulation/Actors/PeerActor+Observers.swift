import LoopCluster
import LoopCore
import LoopWire

/// Observers: the shipped observer's machine in addition to a peer's, on the same sockets. (In the order of `PeerShell`.)
extension PeerActor {
    func watch(_ watched: SimulationPlan.Watched) throws(Violation) {
        var machine = ObserverMachine(following(watched), at: peer.clock(at: now))
        machine.brokenRules = brokenRules
        peer.sockets[here].subscriber.topics = machine.topics(of: loop.id)
        peer.observing = Observing(
            machine: machine, watched: watched, follower: watched.includesStates ? follower(watched) : nil)
        try observe(.watches(peer: peer.index, watched))
    }

    private func following(_ watched: SimulationPlan.Watched) -> Following {
        let name = watched.section.map { world.work.definition.sections[$0].name } ?? ""
        var following: Following =
            switch watched.mode {
            case .full, .both: .updates(.full, of: name, interval: watched.interval)
            case .delta: .updates(.delta, of: name, interval: watched.interval)
            case .transitions: .transitions
            }
        following.transitions = watched.includesTransitions
        return following
    }

    private func follower(_ watched: SimulationPlan.Watched) -> any SimulatedFollower {
        let initial = world.work.definition.initial
        guard let section = watched.section else {
            return TypedFollower(
                StateFollower(World<Work>.State.self, coder: loop.coder), loop.coder, initial, brokenRules)
        }
        return world.work.definition.sections[section].reading.follower(initial, loop.coder, brokenRules)
    }

    func observe(_ frame: PeerFrame, isReply: Bool) throws(Violation) {
        if peer.observing?.receive(frame, isReply: isReply, at: peer.clock(at: now)) == true {
            try observe(.beganAnew(peer: peer.index))
        }
        try takeWishes(frame.history)
    }

    func advanceObserver() throws(Violation) {
        peer.observing?.machine.advance(to: peer.clock(at: now))
        try takeWishes(.none)
    }

    private func takeWishes(_ history: History) throws(Violation) {
        var hasDiverged = false
        for wish in peer.observing?.machine.takeActions() ?? [] where !hasDiverged || !wish.buildsOnTheLast {
            switch wish {
            case .send(let message): try send(message)
            case .ended: try observeEnd()
            // The observer's shell finds out how current the state is.
            case .standing: break
            case .begins:
                try observe(.beganEpoch(peer: peer.index))
                _ = peer.observing?.follower?.take(wish)
            case .refused(let refused):
                try endRefused(refused)
                return
            case .transitions, .missed: try observe(.shown(peer: peer.index, history, wish))
            case .state, .again, .chunk, .assembled, .delta, .hash:
                if try follow(wish, history) { hasDiverged = true }
            }
        }
    }

    /// Shows the result of an action to the reader of the observer.
    /// - Returns: whether it did not fit.
    private func follow(_ action: ObserverAction, _ history: History) throws(Violation) -> Bool {
        guard let steps = peer.observing?.follower?.take(action) else { return false }
        var hasDiverged = false
        for step in steps {
            switch step {
            case .shows(let seq, let bytes):
                let isAgain = peer.observing?.show(seq, of: history) ?? false
                let shown: ObserverAction = isAgain ? .again(seq, bytes) : .state(seq, bytes)
                try observe(.shown(peer: peer.index, history, shown))
            case .diverged(let divergence, let shown):
                guard peer.observing?.resync(shown: shown) == true else {
                    throw Violation(
                        .observersConverge, "observer \(peer.index) was told what does not fit: \(divergence)")
                }
                try observe(.repaired(peer: peer.index))
                hasDiverged = true
                wake(at: now)
            }
        }
        return hasDiverged
    }
}

extension SectionReading {
    fileprivate func follower(
        _ initial: State, _ coder: any ValueCoder, _ rules: BrokenRules
    ) -> any SimulatedFollower {
        TypedFollower(StateFollower(Value.self, coder: coder), coder, value(in: initial), rules)
    }
}

extension PeerFrame {
    /// Whether it was published for all observers, and not for one peer.
    var isForObservers: Bool {
        switch message {
        case .update, .delta, .unchanged, .stateHash, .transitions: true
        // A tick in an inbox is how one peer learns of a new epoch.
        case .serverHeartbeat, .ended: session == .none
        case .introduction, .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .busy,
            .statePart, .status, .refused, .answer, .goodbyeHeard, .refusalDetails, .redirect, .noLeader:
            false
        }
    }
}
