public import LoopCore
public import LoopWire

/// What a follower knows of a state. It existed, but need not be the newest.
public struct KnownState<State: Sendable>: Sendable {
    /// The identity of the state.
    public let id: StateID
    /// The state.
    public let state: State
    /// How long ago it came.
    public let age: Duration
    /// Whether nothing newer is known, and the reducer is in contact. A newer state may have been made in the last tick interval.
    public let isNewest: Bool

    /// The seq of the transition that made the state.
    public var seq: Seq { id.seq }
}

extension KnownState: Equatable where State: Equatable {}
