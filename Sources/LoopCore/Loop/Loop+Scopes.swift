// Scopes: this loop seen through a projection in both directions.
//
// A scope has no queue and no effects of its own. Its events are reduced among the root's, in one order. Its seq, its
// outcome and its end are the root's, and it keeps the root alive. A scope of a scope is a scope.

extension Loop {
    /// This loop with a part of its state, and events that become its own.
    ///
    /// Every state of the loop is one of the scope, even if the part is unchanged; see `States.removingDuplicates()`. Such
    /// a scope cannot `mutate`; one by a writable key path can.
    public func scoped<Part: Sendable, PartEvent: Sendable>(
        to part: @escaping @Sendable (State) -> Part, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<Part, PartEvent> {
        Loop<Part, PartEvent>(
            scope: LoopScope(self, last: part(state), project: { part($0) }, embed: embed, write: nil))
    }

    /// This loop with a writable part of its state, and events that become its own.
    public func scoped<Part: Sendable, PartEvent: Sendable>(
        to part: any WritableKeyPath<State, Part> & Sendable, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<Part, PartEvent> {
        Loop<Part, PartEvent>(
            scope: LoopScope(
                self, last: state[keyPath: part], project: { $0[keyPath: part] }, embed: embed,
                write: { whole, change in change(&whole[keyPath: part]) }))
    }

    /// This loop with other events, which become its own.
    public func scoped<PartEvent: Sendable>(
        event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<State, PartEvent> {
        scoped(to: \.self, event: embed)
    }

    /// This loop without a way to send into it.
    public func ignoringInput() -> Loop<State, Never> {
        Loop<State, Never>(
            scope: LoopScope(
                self, last: state, project: { $0 }, embed: nil, write: { whole, change in change(&whole) }))
    }

    /// An optional part of the state, or nil while there is none.
    ///
    /// When the part goes, the states of the scope end, and events sent through it do nothing. It keeps its last value. The
    /// effects of the feedbacks that were pulled back to the part are cancelled at that moment.
    public func scoped<Part: Sendable, PartEvent: Sendable>(
        toOptional part: @escaping @Sendable (State) -> Part?, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<Part, PartEvent>? {
        guard let now = part(state) else { return nil }
        return Loop<Part, PartEvent>(
            scope: LoopScope(self, last: now, project: part, embed: embed, write: nil))
    }

    /// One case of the loop's state, or nil while it is another. When the state leaves the case, the scope's states end,
    /// and events sent through it do nothing.
    public func scoped<Part: Sendable, PartEvent: Sendable>(
        to part: CasePath<State, Part>, event: CasePath<Event, PartEvent>
    ) -> Loop<Part, PartEvent>? {
        guard let now = part.extract(state) else { return nil }
        return Loop<Part, PartEvent>(
            scope: LoopScope(
                self, last: now, project: part.extract, embed: event.embed,
                write: { whole, change in
                    guard var value = part.extract(whole) else { return }
                    change(&value)
                    whole = part.embed(value)
                }))
    }
}
