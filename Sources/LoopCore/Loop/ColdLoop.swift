/// The states of a loop that is made anew for each iteration, starts with it and ends with it.
///
/// - Parameters:
///   - initial: the state before the first event.
///   - reduce: folds one event into the state.
///   - feedbacks: without one that sends, there is one state.
public func system<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (State, Event) -> State, feedbacks: [Feedback<State, Event>]
) -> ColdStates<State> {
    ColdStates {
        let loop = Loop<State, Event>(initial: initial, reduce: reduce, feedbacks: feedbacks)
        return (loop, loop.states)
    }
}

/// The states of a loop that is made anew for each iteration; another name of `system`.
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (State, Event) -> State, feedbacks: [Feedback<State, Event>]
) -> ColdStates<State> {
    system(initial: initial, reduce: reduce, feedbacks: feedbacks)
}

/// The same for a closure that changes the state.
public func system<State: Sendable, Event: Sendable>(
    initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void, feedbacks: [Feedback<State, Event>]
) -> ColdStates<State> {
    ColdStates {
        let loop = Loop<State, Event>(initial: initial, reducer: reducer, feedbacks: feedbacks)
        return (loop, loop.states)
    }
}

/// The same for a closure that changes the state; another name of `system`.
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void, feedbacks: [Feedback<State, Event>]
) -> ColdStates<State> {
    system(initial: initial, reducer: reducer, feedbacks: feedbacks)
}

/// A sequence of states that brings its own loop to each iteration.
public struct ColdStates<State: Sendable>: AsyncSequence, Sendable {
    public typealias Element = State
    public typealias Failure = Never

    let make: @Sendable () -> (loop: any Sendable & AnyObject, states: States<State>)

    public func makeAsyncIterator() -> Iterator {
        let (loop, states) = make()
        return Iterator(loop: loop, states: states.makeAsyncIterator())
    }

    public struct Iterator: AsyncIteratorProtocol {
        /// Kept alive by the iteration.
        let loop: any Sendable & AnyObject
        var states: AsyncStream<State>.Iterator

        public mutating func next() async -> State? { await states.next() }
    }
}
