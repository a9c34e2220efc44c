public import LoopCore

// Declarations of the older libraries that this one does not have. They cannot be called; their messages say what to write instead.

/// The body of a declaration that cannot be called.
func unavailable(_ name: StaticString = #function) -> Never { preconditionFailure("\(name) is unavailable") }

extension Loop {
    /// Not available: a loop starts when it is made.
    @available(*, unavailable, message: "A loop starts when it is made; make it when it is to start")
    public func start() { unavailable() }

    /// Not available: single feedbacks pause with the state, and not the whole loop.
    @available(
        *, unavailable, message: "Attach .autoconnect(followingChangesIn:) to the feedbacks that pause with the state"
    )
    public func pause() { unavailable() }

    /// Not available: single feedbacks pause with the state, and not the whole loop.
    @available(
        *, unavailable, message: "Attach .autoconnect(followingChangesIn:) to the feedbacks that pause with the state"
    )
    public func resume() { unavailable() }

    /// Not available: `states` is the sequence of states.
    @available(*, unavailable, message: "Iterate over `states`, an AsyncSequence")
    public var producer: States<State> { unavailable() }

    /// Not available: loops have no schedulers, and time comes from a clock.
    @available(
        *, unavailable,
        message: "There are no schedulers: leave `scheduler` out. Time is a clock: `clock: VirtualClock()` in a test"
    )
    public convenience init(
        initial: State, scheduler: some Any, reduce: @escaping @Sendable (State, Event) -> State,
        feedbacks: [Feedback]
    ) {
        unavailable()
    }
}

// MARK: Schedulers

/// Not available: loops have no schedulers, and time comes from a clock.
@available(
    *, unavailable,
    message: "There are no schedulers: leave `scheduler` out. Time is a clock: `clock: VirtualClock()` in a test"
)
public func system<State: Sendable, Event: Sendable>(
    initial: State, scheduler: some Any, reduce: @escaping @Sendable (State, Event) -> State,
    feedbacks: [Feedback<State, Event>]
) -> ColdStates<State> { unavailable() }

/// Not available: loops have no schedulers, and time comes from a clock.
@available(
    *, unavailable,
    message: "There are no schedulers: leave `scheduler` out. Time is a clock: `clock: VirtualClock()` in a test"
)
public func system<State: Sendable, Event: Sendable>(
    initial: State, scheduler: some Any, reduce: @escaping @Sendable (State, Event) -> State,
    feedbacks first: Feedback<State, Event>, _ others: Feedback<State, Event>...
) -> ColdStates<State> { unavailable() }

/// Not available: loops have no schedulers, and time comes from a clock.
@available(
    *, unavailable,
    message: "There are no schedulers: leave `scheduler` out. Time is a clock: `clock: VirtualClock()` in a test"
)
public func system<State: Sendable, Event: Sendable>(
    initialState: State, reduce: @escaping @Sendable (State, Event) -> State, scheduler: some Any,
    feedback: [Feedback<State, Event>]
) -> ColdStates<State> { unavailable() }

/// Not available: loops have no schedulers, and time comes from a clock.
@available(
    *, unavailable,
    message: "There are no schedulers: leave `scheduler` out. Time is a clock: `clock: VirtualClock()` in a test"
)
public func system<State: Sendable, Event: Sendable>(
    initialState: State, reduce: @escaping @Sendable (State, Event) -> State, scheduler: some Any,
    feedback first: Feedback<State, Event>, _ others: Feedback<State, Event>...
) -> ColdStates<State> { unavailable() }

/// Not available: loops have no schedulers.
@available(
    *, unavailable,
    message: "There are no schedulers: leave `scheduler` out, and write `system(initial:reduce:feedbacks:)`"
)
public func system<State: Sendable, Event: Sendable>(
    initial: State, feedbacks: [Feedback<State, Event>], scheduler: some Any,
    reduce: @escaping @Sendable (State, Event) -> State
) -> ColdStates<State> { unavailable() }

// MARK: Feedbacks

extension Feedback {
    /// Not available: there is one feedback for a condition that becomes true, and another for every state where it is true.
    @available(
        *, unavailable,
        message: "Write whenBecomesTrue(_:effects:) to start at the edge, whileTrue(_:state:effects:) at every state"
    )
    public static func predicate(
        predicate: @escaping @Sendable (State) -> Bool, effects: @escaping @Sendable (State) -> Effect<Event>
    ) -> Feedback { unavailable() }

    /// Not available as a static function: use a feedback's own `pullback`.
    @available(*, unavailable, message: "Write feedback.pullback(value:embedEvent:extractEvent:)")
    public static func pullback<Part: Sendable, PartEvent: Sendable>(
        feedback: Feedback<Part, PartEvent>, value: KeyPath<State, Part>,
        embedEvent: @escaping @Sendable (PartEvent) -> Event, extractEvent: @escaping @Sendable (Event) -> PartEvent?
    ) -> Feedback { unavailable() }

    /// Not available as a static function: use a feedback's own `pullback`.
    @available(*, unavailable, message: "Write feedback.pullback(value:event:), with a CasePath for the event")
    public static func pullback<Part: Sendable, PartEvent: Sendable>(
        feedback: Feedback<Part, PartEvent>, value: KeyPath<State, Part>,
        event: @escaping @Sendable (PartEvent) -> Event
    ) -> Feedback { unavailable() }
}

// MARK: Reducers

/// Not available as a free function: use `Reducer.combine`.
@available(*, unavailable, message: "Write Reducer.combine(Reducer(one), Reducer(other))")
public func combine<State, Event>(_ reducers: Reducer<State, Event>...) -> Reducer<State, Event> { unavailable() }

/// Not available as a free function: use `Reducer.combine`.
@available(*, unavailable, message: "Write Reducer.combine(Reducer(one), Reducer(other))")
public func combine<State, Event>(
    _ reducers: @Sendable (inout State, Event) -> Void...
) -> Reducer<State, Event> { unavailable() }

/// Not available as a free function: use a reducer's own `pullback`.
@available(*, unavailable, message: "Write reducer.pullback(value:event:), with a CasePath or a closure for the event")
public func pullback<Part, PartEvent, Whole, WholeEvent>(
    _ reducer: Reducer<Part, PartEvent>, value: WritableKeyPath<Whole, Part>,
    extractEvent: @escaping @Sendable (WholeEvent) -> PartEvent?
) -> Reducer<Whole, WholeEvent> { unavailable() }

/// Not available as a free function: use a reducer's own `pullback`.
@available(
    *, unavailable, message: "Write Reducer(reduce).pullback(value:event:), with a CasePath or a closure for the event"
)
public func pullback<Part, PartEvent, Whole, WholeEvent>(
    _ reducer: @Sendable (inout Part, PartEvent) -> Void, value: WritableKeyPath<Whole, Part>,
    extractEvent: @escaping @Sendable (WholeEvent) -> PartEvent?
) -> Reducer<Whole, WholeEvent> { unavailable() }

/// Not available as a free function: use a reducer's own `pullback`.
@available(*, unavailable, message: "Write reducer.pullback(value:event:), with a CasePath or a closure for the event")
public func pullback<Part, PartEvent, Whole, WholeEvent>(
    _ reducer: Reducer<Part, PartEvent>, value: WritableKeyPath<Whole, Part>,
    event: KeyPath<WholeEvent, PartEvent?>
) -> Reducer<Whole, WholeEvent> { unavailable() }

/// Not available as a free function: use a reducer's own `pullback`.
@available(
    *, unavailable, message: "Write Reducer(reduce).pullback(value:event:), with a CasePath or a closure for the event"
)
public func pullback<Part, PartEvent, Whole, WholeEvent>(
    _ reducer: @Sendable (inout Part, PartEvent) -> Void, value: WritableKeyPath<Whole, Part>,
    event: KeyPath<WholeEvent, PartEvent?>
) -> Reducer<Whole, WholeEvent> { unavailable() }
