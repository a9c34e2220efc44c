/// The body of a `custom` feedback: follows the transitions until they end, and sends what it likes.
package typealias CustomBody<State, Event> =
    @Sendable (AsyncStream<(state: State, event: Event?)>, Send<Event>) async -> Void

/// A feedback without requests: a body that follows the transitions, anew each time the feedback is attached.
package struct CustomFeedback<State: Sendable, Event: Sendable>: Sendable {
    /// A run of the body that begins with this state; nil where the state has no part for it.
    package let attach: @Sendable (State, Send<Event>) -> CustomRun<State, Event>?

    init(body: @escaping CustomBody<State, Event>) {
        attach = { state, send in
            let (stream, continuation) = AsyncStream<(state: State, event: Event?)>.makeStream()
            continuation.yield((state, nil))
            return CustomRun(
                tell: { state, event in
                    continuation.yield((state, event))
                    return true
                },
                finish: { continuation.finish() }, body: { await body(stream, send) })
        }
    }

    private init(attach: @escaping @Sendable (State, Send<Event>) -> CustomRun<State, Event>?) {
        self.attach = attach
    }

    /// The same in a loop whose state has this one as a part, at times or always.
    func pullback<Whole: Sendable, WholeEvent: Sendable>(
        value: @escaping @Sendable (Whole) -> State?, embedEvent: @escaping @Sendable (Event) -> WholeEvent,
        extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> CustomFeedback<Whole, WholeEvent> {
        CustomFeedback<Whole, WholeEvent> { [attach] whole, send in
            guard let part = value(whole), let run = attach(part, send.pullback(embedEvent)) else { return nil }
            return CustomRun(
                tell: { whole, event in
                    guard let part = value(whole) else { return false }
                    return run.tell(part, event.flatMap(extractEvent))
                },
                finish: run.finish, body: run.body)
        }
    }
}

/// One run of a custom feedback's body, from its attachment to its end.
package struct CustomRun<State: Sendable, Event: Sendable>: Sendable {
    /// Tells the body of a transition. False: the part has gone, and the run with it.
    package let tell: @Sendable (State, Event?) -> Bool
    /// Ends the transitions.
    package let finish: @Sendable () -> Void
    let body: @Sendable () async -> Void
}
