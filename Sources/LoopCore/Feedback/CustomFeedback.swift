/// The body of a `custom` feedback: follows the transitions until they end, and sends what it likes.
package typealias CustomBody<State, Event> =
    @Sendable (AsyncStream<(state: State, event: Event?)>, Send<Event>) async -> Void

/// Hears of an effect of the body that has failed, with its request, and sends the event that the feedback makes of it.
typealias FailureReport = @Sendable (any Sendable, any Error) async -> Void

/// A feedback without requests: a body that follows the transitions, anew each time the feedback is attached.
package struct CustomFeedback<State: Sendable, Event: Sendable>: Sendable {
    private typealias Begin =
        @Sendable (State, Send<Event>, @escaping FailureReport) -> CustomRun<State, Event>?

    private let begin: Begin
    /// The event for an effect of the body that has failed; nil: nobody is told.
    var failureEvent: (@Sendable (any Sendable, any Error) -> Event?)?

    /// - Parameter body: runs effects of its own, and reports their failures.
    init(
        reporting body:
            @escaping @Sendable (
                AsyncStream<(state: State, event: Event?)>, Send<Event>, @escaping FailureReport
            ) async -> Void
    ) {
        begin = { state, send, report in
            let (stream, continuation) = AsyncStream<(state: State, event: Event?)>.makeStream()
            continuation.yield((state, nil))
            return CustomRun(
                tell: { state, event in
                    continuation.yield((state, event))
                    return true
                },
                finish: { continuation.finish() }, body: { await body(stream, send, report) })
        }
    }

    init(body: @escaping CustomBody<State, Event>) {
        self.init(reporting: { transitions, send, _ in await body(transitions, send) })
    }

    private init(begin: @escaping Begin) { self.begin = begin }

    /// A run of the body that begins with this state; nil where the state has no part for it.
    package func attach(_ state: State, _ send: Send<Event>) -> CustomRun<State, Event>? {
        begin(state, send) { [failureEvent] request, error in
            if let event = failureEvent?(request, error) { try? await send(event) }
        }
    }

    /// The same in a loop whose state has this one as a part, at times or always.
    func pullback<Whole: Sendable, WholeEvent: Sendable>(
        value: @escaping @Sendable (Whole) -> State?, embedEvent: @escaping @Sendable (Event) -> WholeEvent,
        extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> CustomFeedback<Whole, WholeEvent> {
        var whole = CustomFeedback<Whole, WholeEvent> { [begin] whole, send, report in
            guard let part = value(whole), let run = begin(part, send.pullback(embedEvent), report) else { return nil }
            return CustomRun(
                tell: { whole, event in
                    guard let part = value(whole) else { return false }
                    return run.tell(part, event.flatMap(extractEvent))
                },
                finish: run.finish, body: run.body)
        }
        if let failureEvent { whole.failureEvent = { failureEvent($0, $1).map(embedEvent) } }
        return whole
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
