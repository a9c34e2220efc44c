/// A link to a loop, or through its scopes to it, that does not keep it alive. After the loop's end, sending does nothing.
package struct LoopLink<State: Sendable, Event: Sendable>: Sendable {
    /// The state, or nil if the loop or the part has gone.
    package let state: @Sendable () -> State?
    package let send: @Sendable (Event) -> Void
    package let mutate: @Sendable (@escaping @Sendable (inout State) -> Void) -> Void

    /// The link to a part.
    /// - Parameters:
    ///   - embed: embeds the part's events, or nil if nothing can be sent.
    ///   - write: changes the part inside of the whole, or nil if it can only be read.
    func scoped<Part, PartEvent>(
        project: @escaping @Sendable (State) -> Part?, embed: (@Sendable (PartEvent) -> Event)?,
        write: (@Sendable (inout State, (inout Part) -> Void) -> Void)?
    ) -> LoopLink<Part, PartEvent> {
        LoopLink<Part, PartEvent>(
            state: { [state] in state().flatMap(project) },
            send: { [state, send] event in
                guard let embed, let whole = state(), project(whole) != nil else { return }
                send(embed(event))
            },
            mutate: { [mutate] change in
                guard let write else {
                    preconditionFailure("this scope can only be read; scope it by a writable key path to mutate it")
                }
                mutate { whole in write(&whole) { change(&$0) } }
            })
    }
}
