package import LoopCore
package import LoopWire

/// An action that an observer's machine asks of its shell.
package enum ObserverAction: Equatable, Sendable {
    /// Send a message to the reducer over DEALER.
    case send(ToReducer)
    /// All actions that follow are of this epoch. Its journal may lack states that were handed out before.
    case begins(History, Epoch)
    /// A newer state, encoded. The first state of an epoch may be older than the last one of the epoch before.
    case state(Seq, [UInt8])
    /// The state at the seq of the last one, encoded, once more. What was made from the last one may differ, or was found to be
    /// wrong.
    case again(Seq, [UInt8])
    /// A chunk of a state that is fetched, encoded. Chunk 0 is its manifest, and begins the state again.
    case chunk(Seq, number: Int, [UInt8])
    /// The chunks that were handed out are a whole state: a newer one, or the one at the last seq once more.
    case assembled(Seq, isAgain: Bool)
    /// The changes that make a newer state from the one before. The new state must have the hash, if there is one.
    case delta(Seq, hash: UInt64?, [UInt8])
    /// The hash that the last state must have.
    case hash(Seq, UInt64)
    /// Transitions, for people.
    case transitions([TransitionNote])
    /// Seqs whose transition is not shown. What follows is of the next seq.
    case missed(ClosedRange<Seq>)
    /// The loop has ended, with its exit code and its outcome for people.
    case ended(exitCode: Int32, text: String)
    /// The reducer does not have what is followed.
    case refused(Refused)
    /// How well the state is known, whenever that changes. It comes from the shell.
    case standing(ObserverStanding)
}

extension ObserverAction {
    /// Whether the action builds on what was handed out before. After a state that does not fit, such an action is of no use.
    /// After `resync`, the machine hands out again what is missing.
    package var buildsOnTheLast: Bool {
        switch self {
        case .state, .again, .chunk, .assembled, .delta, .hash: true
        case .begins, .send, .transitions, .missed, .ended, .refused, .standing: false
        }
    }
}

/// How well an observer knows the state.
package struct ObserverStanding: Equatable, Sendable {
    /// The newest state that the observer has of the epoch that it follows, or nil before the first.
    package var state: StateID?
    /// Whether the reducer is reachable, and no newer state is known to exist.
    package var isCurrent: Bool

    /// Creates a standing from its parts. Without arguments, it is the one before the first state.
    package init(state: StateID? = nil, isCurrent: Bool = false) {
        self.state = state
        self.isCurrent = isCurrent
    }
}
