/// The states of a loop: the current one first, then every later one, once and in order, until the loop ends.
///
/// Every iteration is a subscription of its own, from the moment at which it starts. Nothing is dropped for a slow
/// reader: the states that it has not taken wait in memory. The sequence does not keep the loop alive.
public struct States<State: Sendable>: AsyncSequence, Sendable {
    public typealias Element = State
    public typealias Failure = Never

    let subscribe: @Sendable () -> AsyncStream<State>

    public func makeAsyncIterator() -> AsyncStream<State>.Iterator { subscribe().makeAsyncIterator() }
}
