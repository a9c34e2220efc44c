package import LoopWire

/// The subscriptions of observers and tools. The shell learns them from its publisher.
package struct Subscriptions: Equatable, Sendable {
    /// The streams of updates that observers follow, each once, in the order in which they were first followed.
    package var streams: [UpdateStream] = []
    /// Whether a tool follows the transitions.
    package var hasTransitions = false

    /// Creates an empty set of subscriptions.
    package init() {}
}
