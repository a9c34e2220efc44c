// Reducers of a part, by key paths and cases; and one that tells what it does.

extension Reducer {
    /// The same reducer for a part of a larger state and one case of a larger event.
    public func pullback<Whole, WholeEvent>(
        value: any WritableKeyPath<Whole, State> & Sendable, event: CasePath<WholeEvent, Event>
    ) -> Reducer<Whole, WholeEvent> {
        pullback(value: value, event: event.extract)
    }

    /// The same reducer for one case of a larger state, and one of a larger event. Outside of the case an event changes
    /// nothing.
    public func pullback<Whole, WholeEvent>(
        value: CasePath<Whole, State>, event: CasePath<WholeEvent, Event>
    ) -> Reducer<Whole, WholeEvent> {
        pullback(extract: value.extract, embed: value.embed, event: event.extract)
    }

    /// The same reducer, which tells of each event and of the state that it leads to.
    /// - Parameter log: gets one line for each event; prints it unless said otherwise. It is called where the reducer is,
    ///   once more at every replay.
    public func logging(
        _ log: @escaping @Sendable (String) -> Void = { print($0) }
    ) -> Reducer {
        Reducer { state, event in
            self(&state, event)
            log("\(event) → \(state)")
        }
    }
}
