/// Folds an event into a state, which is the only way in which a state changes. It must be a function of its arguments: no
/// clock, no chance, no order of a set or dictionary.
public struct Reducer<State, Event>: Sendable {
    let body: @Sendable (inout State, Event) -> Void

    /// Creates a reducer that changes the state in place.
    /// - Parameter body: folds one event into the state; a function of its arguments.
    public init(_ body: @escaping @Sendable (inout State, Event) -> Void) { self.body = body }

    /// Creates a reducer that returns the new state, as in the first generation.
    public init(returning body: @escaping @Sendable (State, Event) -> State) {
        self.body = { state, event in state = body(state, event) }
    }

    /// Creates the reducer of a definition, for a loop that has the definition as a part. It gets no transition.
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

    /// Combines reducers, which run in order on one state: one event, one new state.
    public static func combine(_ reducers: Reducer...) -> Reducer {
        Reducer { state, event in
            for reducer in reducers { reducer(&state, event) }
        }
    }

    /// This reducer for a part of a larger state. An event from which `event` extracts nothing changes nothing.
    public func pullback<Whole, WholeEvent>(
        value: any WritableKeyPath<Whole, State> & Sendable, event extract: @escaping @Sendable (WholeEvent) -> Event?
    ) -> Reducer<Whole, WholeEvent> {
        Reducer<Whole, WholeEvent> { whole, wholeEvent in
            if let event = extract(wholeEvent) { self(&whole[keyPath: value], event) }
        }
    }

    /// This reducer for a case of a larger state. Outside of the case an event changes nothing.
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

    /// This reducer for a state that may be absent. If it is, an event changes nothing.
    public func optional() -> Reducer<State?, Event> {
        Reducer<State?, Event> { state, event in
            guard var value = state.take() else { return }
            self(&value, event)
            state = value
        }
    }
}
