/// The states of a loop: the current one first, then every later one, once and in order, until the loop ends.
///
/// Every iteration is a subscription of its own, from the moment at which it starts. Nothing is dropped for a slow
/// reader: the states that it has not taken wait in memory. The sequence does not keep the loop alive.
public struct States<State: Sendable>: AsyncSequence, Sendable {
    public typealias Element = State
    public typealias Failure = Never

    let subscribe: @Sendable (AsyncStream<State>.Continuation.BufferingPolicy) -> AsyncStream<State>
    var buffering = AsyncStream<State>.Continuation.BufferingPolicy.unbounded

    public func makeAsyncIterator() -> AsyncStream<State>.Iterator { subscribe(buffering).makeAsyncIterator() }

    /// The same sequence for a reader who needs the latest state only: of the states that it has not taken, the newest
    /// waits.
    public var latest: States { States(subscribe: subscribe, buffering: .bufferingNewest(1)) }
}
