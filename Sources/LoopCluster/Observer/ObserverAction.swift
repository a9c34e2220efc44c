public import LoopCore
public import LoopWire

/// What an observer's machine asks of its shell.
public enum ObserverAction: Equatable, Sendable {
    /// Over DEALER.
    case send(ToReducer)
    /// All actions that follow are of this epoch, whose journal may lack states that were handed out before.
    case begins(History, Epoch)
    /// A newer state, encoded. The first state of an epoch may be older than the last one of the epoch before.
    case state(Seq, [UInt8])
    /// The state at the seq of the last one, encoded, once more: what was made since may be another, or was told to be wrong.
    case again(Seq, [UInt8])
    /// A chunk of a state that is fetched, encoded; 0 is its manifest, and begins the state again.
    case chunk(Seq, number: Int, [UInt8])
    /// The chunks that were handed out are all of a state: a newer one, or the one at the seq of the last one once more.
    case assembled(Seq, isAgain: Bool)
    /// A newer state: what has changed since the one before. The state that it makes has to have the hash, if there is one.
    case delta(Seq, hash: UInt64?, [UInt8])
    /// The events after the last state, each to be folded into it.
    case events(History, [TransitionNote])
    /// What the last state has to hash to.
    case hash(Seq, UInt64)
    /// Transitions, for people.
    case transitions([TransitionNote])
    /// Seqs whose transition or state is not shown; what comes next is of the one after them.
    case missed(ClosedRange<Seq>)
    /// The loop has ended, with its exit code and its outcome for people.
    case ended(exitCode: Int32, text: String)
    /// The reducer does not have what is followed.
    case refused(Refused)
    /// How well the state is known, where that has changed; from the shell.
    case standing(ObserverStanding)
}

extension ObserverAction {
    /// Whether it builds on what was handed out before. After something that does not fit it is of no use: the machine, told to
    /// `resync`, hands out what is missing again.
    public var buildsOnTheLast: Bool {
        switch self {
        case .state, .again, .chunk, .assembled, .delta, .events, .hash, .missed: true
        case .begins, .send, .transitions, .ended, .refused, .standing: false
        }
    }
}

/// How well an observer knows the state.
public struct ObserverStanding: Equatable, Sendable {
    /// The newest state that the observer has of the epoch that it follows, or nil before the first.
    public var state: StateID?
    /// Whether no newer state is known to exist, by a reducer that is heard.
    public var isCurrent: Bool

    /// Creates a standing from its parts; without arguments the one before the first state.
    public init(state: StateID? = nil, isCurrent: Bool = false) {
        self.state = state
        self.isCurrent = isCurrent
    }
}
