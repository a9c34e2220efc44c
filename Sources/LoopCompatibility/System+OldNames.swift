public import LoopCore

// The spellings that `system` and `feedbackLoop` have in the older libraries.

/// `system(initial:reducer:feedbacks:clock:)` with the label `reduce`, which Loop and ReactiveFeedback have for reducers that
/// change the state.
@_disfavoredOverload
public func system<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (inout State, Event) -> Void, feedbacks: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: reduce, feedbacks: feedbacks, clock: clock)
}

/// `feedbackLoop(initial:reducer:feedbacks:clock:)` with the label `reduce`.
@_disfavoredOverload
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (inout State, Event) -> Void, feedbacks: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: reduce, feedbacks: feedbacks, clock: clock)
}

// RxFeedback's labels.

/// `system(initial:reduce:feedbacks:clock:)` with RxFeedback's labels.
public func system<State: Sendable, Event: Sendable>(
    initialState: State, reduce: @escaping @Sendable (State, Event) -> State, feedback: [Feedback<State, Event>],
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initialState, reduce: reduce, feedbacks: feedback, clock: clock)
}

/// `system(initial:reduce:feedbacks:clock:)` with RxFeedback's labels and the feedbacks as separate arguments.
public func system<State: Sendable, Event: Sendable>(
    initialState: State, reduce: @escaping @Sendable (State, Event) -> State, feedback first: Feedback<State, Event>,
    _ others: Feedback<State, Event>..., clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initialState, reduce: reduce, feedbacks: [first] + others, clock: clock)
}

// Forms with the feedbacks as separate arguments instead of an array. There is at least one, so that no call is ambiguous.

/// `system(initial:reduce:feedbacks:clock:)` with the feedbacks as separate arguments.
public func system<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (State, Event) -> State, feedbacks first: Feedback<State, Event>,
    _ others: Feedback<State, Event>..., clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reduce: reduce, feedbacks: [first] + others, clock: clock)
}

/// `system` with separate feedbacks, for a closure that changes the state.
public func system<State: Sendable, Event: Sendable>(
    initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void,
    feedbacks first: Feedback<State, Event>, _ others: Feedback<State, Event>...,
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: reducer, feedbacks: [first] + others, clock: clock)
}

/// `system` with separate feedbacks, for a closure that changes the state, with the label `reduce`.
@_disfavoredOverload
public func system<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (inout State, Event) -> Void,
    feedbacks first: Feedback<State, Event>, _ others: Feedback<State, Event>...,
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: reduce, feedbacks: [first] + others, clock: clock)
}

/// `feedbackLoop(initial:reduce:feedbacks:clock:)` with the feedbacks as separate arguments.
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (State, Event) -> State, feedbacks first: Feedback<State, Event>,
    _ others: Feedback<State, Event>..., clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reduce: reduce, feedbacks: [first] + others, clock: clock)
}

/// `feedbackLoop` with separate feedbacks, for a closure that changes the state.
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void,
    feedbacks first: Feedback<State, Event>, _ others: Feedback<State, Event>...,
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: reducer, feedbacks: [first] + others, clock: clock)
}

/// `feedbackLoop` with separate feedbacks, for a closure that changes the state, with the label `reduce`.
@_disfavoredOverload
public func feedbackLoop<State: Sendable, Event: Sendable>(
    initial: State, reduce: @escaping @Sendable (inout State, Event) -> Void,
    feedbacks first: Feedback<State, Event>, _ others: Feedback<State, Event>...,
    clock: some Clock<Duration> = ContinuousClock()
) -> ColdStates<State> {
    system(initial: initial, reducer: reduce, feedbacks: [first] + others, clock: clock)
}
