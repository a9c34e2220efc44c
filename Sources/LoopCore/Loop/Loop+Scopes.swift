// Scopes: the same loop seen through a projection, both ways.
//
// A scope has no queue, no effects and no life of its own. Its events are reduced among the root's, in one order; its seq,
// its outcome and its end are the root's; it keeps the root alive. A scope of a scope is a scope.

extension Loop {
    /// The loop with a part of its state, and events that become its own.
    ///
    /// Every state of the loop is one of the scope, also where the part is the same as before; see
    /// `States.removingDuplicates()`. Such a scope cannot `mutate`; one by a writable key path can.
    public func scoped<Part: Sendable, PartEvent: Sendable>(
        to part: @escaping @Sendable (State) -> Part, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<Part, PartEvent> {
        Loop<Part, PartEvent>(
            scope: LoopScope(self, last: part(state), project: { part($0) }, embed: embed, write: nil))
    }

    /// The loop with a part of its state that can be written too, and events that become its own.
    public func scoped<Part: Sendable, PartEvent: Sendable>(
        to part: any WritableKeyPath<State, Part> & Sendable, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<Part, PartEvent> {
        Loop<Part, PartEvent>(
            scope: LoopScope(
                self, last: state[keyPath: part], project: { $0[keyPath: part] }, embed: embed,
                write: { whole, change in change(&whole[keyPath: part]) }))
    }

    /// The loop with other events, which become its own.
    public func scoped<PartEvent: Sendable>(
        event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<State, PartEvent> {
        scoped(to: \.self, event: embed)
    }

    /// The loop without a way to send into it.
    public func ignoringInput() -> Loop<State, Never> {
        Loop<State, Never>(
            scope: LoopScope(
                self, last: state, project: { $0 }, embed: nil, write: { whole, change in change(&whole) }))
    }

    /// A part that is not always there; nil while it is not.
    ///
    /// When the part goes, the states of the scope end, and what is sent through it does nothing; it shows the last value.
    /// The effects of the part are those of the feedbacks that were pulled back to it, which are cancelled at that moment.
    public func scoped<Part: Sendable, PartEvent: Sendable>(
        toOptional part: @escaping @Sendable (State) -> Part?, event embed: @escaping @Sendable (PartEvent) -> Event
    ) -> Loop<Part, PartEvent>? {
        guard let now = part(state) else { return nil }
        return Loop<Part, PartEvent>(
            scope: LoopScope(self, last: now, project: part, embed: embed, write: nil))
    }

    /// One case of the loop's state; nil while it is another. As with an optional part, leaving the case ends the scope's
    /// states, and makes what is sent through it do nothing.
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
