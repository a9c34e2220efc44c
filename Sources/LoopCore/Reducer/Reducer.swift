/// Folds an event into a state: the only way in which a state changes. A function of its arguments, without a clock,
/// chance, or the order of a set or dictionary.
public struct Reducer<State, Event>: Sendable {
    let body: @Sendable (inout State, Event) -> Void

    /// A reducer that changes the state in place.
    /// - Parameter body: folds one event into the state; a function of its arguments.
    public init(_ body: @escaping @Sendable (inout State, Event) -> Void) { self.body = body }

    /// A reducer that returns the new state, as in the first generation.
    public init(returning body: @escaping @Sendable (State, Event) -> State) {
        self.body = { state, event in state = body(state, event) }
    }

    /// The reducer of a definition, for a loop that has that one as a part. What a transition tells besides state and event
    /// does not reach it.
    public init<Definition: LoopDefinition>(_ definition: Definition)
    where Definition.State == State, Definition.Event == Event, Definition.Reduction == Void {
        body = { state, event in definition.reduce(&state, event) }
    }

    /// Not available: a part receives no transition, and this definition's `reduce` needs one.
    @available(*, unavailable, message: "a part is reduced without a transition; implement reduce(_:_:) as well")
    public init<Definition: LoopDefinition>(_ definition: Definition)
    where Definition.State == State, Definition.Event == Event, Definition.Reduction == NeedsTransition {
        fatalError("unavailable")
    }

    /// Folds one event into the state.
    public func callAsFunction(_ state: inout State, _ event: Event) { body(&state, event) }

    /// Runs all of them, in order, on the same state: one event, one new state.
    public static func combine(_ reducers: Reducer...) -> Reducer {
        Reducer { state, event in
            for reducer in reducers { reducer(&state, event) }
        }
    }

    /// The same reducer for a part of a larger state. An event that `event` does not extract changes nothing.
    public func pullback<Whole, WholeEvent>(
        value: any WritableKeyPath<Whole, State> & Sendable, event extract: @escaping @Sendable (WholeEvent) -> Event?
    ) -> Reducer<Whole, WholeEvent> {
        Reducer<Whole, WholeEvent> { whole, wholeEvent in
            if let event = extract(wholeEvent) { self(&whole[keyPath: value], event) }
        }
    }

    /// The same reducer for a case of a larger state. Outside of the case an event changes nothing.
    public func pullback<Whole, WholeEvent>(
        extract: @escaping @Sendable (Whole) -> State?, embed: @escaping @Sendable (State) -> Whole,
        event extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> Reducer<Whole, WholeEvent> {
        Reducer<Whole, WholeEvent> { whole, wholeEvent in
            guard let event = extractEvent(wholeEvent), var state = extract(whole) else { return }
            self(&state, event)
            whole = embed(state)
        }
    }

    /// The same reducer for a state that may be absent; then an event changes nothing.
    public func optional() -> Reducer<State?, Event> {
        Reducer<State?, Event> { state, event in
            guard var value = state.take() else { return }
            self(&value, event)
            state = value
        }
    }
}
