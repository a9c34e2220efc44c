// Reducers of a part, by key paths and cases; and a reducer that logs its work.

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

    /// This reducer with a log line for each event and the state that follows it.
    /// - Parameter log: gets one line for each event; prints it by default. It is called in the reducer's process, and
    ///   again at every replay.
    public func logging(
        _ log: @escaping @Sendable (String) -> Void = { print($0) }
    ) -> Reducer {
        Reducer(
            .informed { state, event, transition in
                self(&state, event, transition)
                log("\(event) → \(state)")
            })
    }
}
