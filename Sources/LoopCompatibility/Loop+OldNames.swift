public import LoopCore

// The names that `Loop` and its initializers have in the older libraries.

/// The older name of `Loop`, from ReactiveFeedback and Loop.
public typealias FeedbackLoop<State: Sendable, Event: Sendable> = Loop<State, Event>

extension Loop {
    /// The name of this loop's feedbacks in Loop and ReactiveFeedback: `Loop<Search, SearchEvent>.Feedback`.
    public typealias Feedback = LoopCore.Feedback<State, Event>

    /// The older name of `scoped(to:event:)`.
    public func view<Part: Sendable, PartEvent: Sendable>(
        value: any WritableKeyPath<State, Part> & Sendable, event: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<Part, PartEvent> {
        scoped(to: value, event: event)
    }

    /// `init(initial:reducer:feedbacks:clock:seed:)` with the label `reduce`, which Loop and ReactiveFeedback once had for
    /// reducers that change the state.
    @_disfavoredOverload
    public convenience init(
        initial: State, reduce: @escaping @Sendable (inout State, Event) -> Void, feedbacks: [Feedback] = [],
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(initial: initial, reducer: Reducer(reduce), feedbacks: feedbacks, clock: clock, seed: seed)
    }
}

// Forms with the feedbacks as separate arguments instead of an array. There is at least one, so that no call is ambiguous.
extension Loop {
    /// `init(initial:reducer:feedbacks:clock:seed:)` with the feedbacks as separate arguments.
    public convenience init(
        initial: State, reducer: Reducer<State, Event>, feedbacks first: Feedback, _ others: Feedback...,
        clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(initial: initial, reducer: reducer, feedbacks: [first] + others, clock: clock, seed: seed)
    }

    /// The form with separate feedbacks for a closure that changes the state.
    public convenience init(
        initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void, feedbacks first: Feedback,
        _ others: Feedback..., clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(initial: initial, reducer: Reducer(reducer), feedbacks: [first] + others, clock: clock, seed: seed)
    }

    /// The form with separate feedbacks for a closure that returns the new state.
    public convenience init(
        initial: State, reduce: @escaping @Sendable (State, Event) -> State, feedbacks first: Feedback,
        _ others: Feedback..., clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(
            initial: initial, reducer: Reducer(returning: reduce), feedbacks: [first] + others, clock: clock,
            seed: seed)
    }

    /// The form with separate feedbacks for a closure that changes the state, with the label `reduce`.
    @_disfavoredOverload
    public convenience init(
        initial: State, reduce: @escaping @Sendable (inout State, Event) -> Void, feedbacks first: Feedback,
        _ others: Feedback..., clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.init(initial: initial, reducer: Reducer(reduce), feedbacks: [first] + others, clock: clock, seed: seed)
    }
}
