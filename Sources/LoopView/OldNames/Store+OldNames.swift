public import LoopCore

extension Store {
    /// The older name of `scoped(to:event:)`.
    public func view<Part, PartEvent>(
        value: any WritableKeyPath<State, Part> & Sendable, event: @escaping @Sendable (PartEvent) -> Event
    ) -> Store<Part, PartEvent> {
        scoped(to: value, event: event)
    }

    /// Creates a loop that ends with the store, from a reducer such as one that `Reducer.combine` makes.
    public convenience init(
        initial: State, reducer: Reducer<State, Event>, feedbacks: [Feedback<State, Event>] = []
    ) {
        self.init(Loop(initial: initial, reducer: reducer, feedbacks: feedbacks))
    }
}

// Schedulers, which the stores of older libraries take. The declarations cannot be called. They exist so that the compiler says
// what to write instead.
extension Store {
    /// Not available: stores have no schedulers.
    @available(
        *, unavailable,
        message: "There are no schedulers: leave `scheduler` out, and write `Store(initial:reducer:feedbacks:)`"
    )
    public convenience init(
        initial: State, feedbacks: [Feedback<State, Event>], scheduler: some Any,
        reducer: @escaping @Sendable (State, Event) -> State
    ) {
        preconditionFailure("unavailable")
    }

    /// Not available: stores have no schedulers.
    @available(*, unavailable, message: "There are no schedulers: leave `scheduler` out")
    public convenience init(
        initial: State, reducer: @escaping @Sendable (inout State, Event) -> Void, feedbacks: [Feedback<State, Event>],
        scheduler: some Any
    ) {
        preconditionFailure("unavailable")
    }
}
