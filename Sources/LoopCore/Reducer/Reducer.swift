/// Folds an event into a state, which is the only way in which a state changes. It must be a function of its arguments: no
/// clock, no chance, no order of a set or dictionary.
public struct Reducer<State, Event>: Sendable {
    package let body: LoopReduce<State, Event>

    /// Creates a reducer that changes the state in place.
    /// - Parameter body: folds one event into the state; a function of its arguments.
    public init(_ body: @escaping @Sendable (inout State, Event) -> Void) { self.body = .plain(body) }

    /// Creates a reducer that returns the new state, as in the first generation.
    public init(returning body: @escaping @Sendable (State, Event) -> State) {
        self.body = .plain { state, event in state = body(state, event) }
    }

    /// Creates the reducer of a definition, for a loop that has the definition as a part.
    public init<Definition: LoopDefinition>(_ definition: Definition)
    where Definition.State == State, Definition.Event == Event {
        body = .informed { definition.reduce(into: &$0, $1, $2) }
    }

    init(_ body: LoopReduce<State, Event>) { self.body = body }

    /// Folds one event into the state.
    public func callAsFunction(_ state: inout State, _ event: Event, _ transition: Transition) {
        switch body {
        case .plain(let reduce): reduce(&state, event)
        case .informed(let reduce): reduce(&state, event, transition)
        }
    }

    /// Combines reducers, which run in order on one state: one event, one new state.
    public static func combine(_ reducers: Reducer...) -> Reducer {
        Reducer(
            .informed { state, event, transition in
                for reducer in reducers { reducer(&state, event, transition) }
            })
    }

    /// This reducer for a part of a larger state. An event from which `event` extracts nothing changes nothing.
    public func pullback<Whole, WholeEvent>(
        value: any WritableKeyPath<Whole, State> & Sendable, event extract: @escaping @Sendable (WholeEvent) -> Event?
    ) -> Reducer<Whole, WholeEvent> {
        Reducer<Whole, WholeEvent>(
            .informed { whole, wholeEvent, transition in
                if let event = extract(wholeEvent) { self(&whole[keyPath: value], event, transition) }
            })
    }

    /// This reducer for a case of a larger state. Outside of the case an event changes nothing.
    public func pullback<Whole, WholeEvent>(
        extract: @escaping @Sendable (Whole) -> State?, embed: @escaping @Sendable (State) -> Whole,
        event extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> Reducer<Whole, WholeEvent> {
        Reducer<Whole, WholeEvent>(
            .informed { whole, wholeEvent, transition in
                guard let event = extractEvent(wholeEvent), var state = extract(whole) else { return }
                self(&state, event, transition)
                whole = embed(state)
            })
    }

    /// This reducer for a state that may be absent. If it is, an event changes nothing.
    public func optional() -> Reducer<State?, Event> {
        Reducer<State?, Event>(
            .informed { state, event, transition in
                guard var value = state.take() else { return }
                self(&value, event, transition)
                state = value
            })
    }
}

// Reducers of a part, by key paths and cases.

extension Reducer {
    /// This reducer for a part of a larger state and one case of a larger event.
    public func pullback<Whole, WholeEvent>(
        value: any WritableKeyPath<Whole, State> & Sendable, event: CasePath<WholeEvent, Event>
    ) -> Reducer<Whole, WholeEvent> {
        pullback(value: value, event: event.extract)
    }

    /// This reducer for one case of a larger state, and one of a larger event. Outside of the case an event changes nothing.
    public func pullback<Whole, WholeEvent>(
        value: CasePath<Whole, State>, event: CasePath<WholeEvent, Event>
    ) -> Reducer<Whole, WholeEvent> {
        pullback(extract: value.extract, embed: value.embed, event: event.extract)
    }
}
