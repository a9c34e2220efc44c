/// The body of a `custom` feedback. It follows the transitions until they end, and sends events.
package typealias CustomBody<State, Event> =
    @Sendable (AsyncStream<(state: State, event: Event?)>, Send<Event>) async -> Void

/// Reports an effect of the body that has failed, with its request. The feedback may make an event of it.
package typealias FailureReport = @Sendable (any Sendable, any Error) async -> Void

/// A feedback without requests: a body that follows the transitions, or a connection that brings events from outside. It
/// begins again each time the feedback is attached.
package struct CustomFeedback<State: Sendable, Event: Sendable>: Sendable {
    private typealias Begin =
        @Sendable (State, CustomPort<Event>, @escaping FailureReport) -> CustomRun<State, Event>?

    private let begin: Begin
    /// The type of the requests whose effects the body runs, or nil if it runs none.
    let requestType: RequestType?
    /// The event for a failed effect of the body, or nil if failures are ignored.
    var failureEvent: (@Sendable (any Sendable, EffectFailure) -> Event?)?

    /// - Parameters:
    ///   - requestType: the type of the requests whose effects the body runs, or nil if it runs none.
    ///   - body: a body that runs effects of its own and reports their failures.
    package init(
        reporting requestType: RequestType?,
        body:
            @escaping @Sendable (
                AsyncStream<(state: State, event: Event?)>, CustomPort<Event>, @escaping FailureReport
            ) async -> Void
    ) {
        self.requestType = requestType
        begin = { state, port, report in
            let (stream, continuation) = AsyncStream<(state: State, event: Event?)>.makeStream()
            continuation.yield((state, nil))
            return CustomRun(
                tell: { state, event in
                    continuation.yield((state, event))
                    return true
                },
                finish: { continuation.finish() }, work: .body { await body(stream, port, report) })
        }
    }

    init(body: @escaping CustomBody<State, Event>) {
        self.init(reporting: nil) { transitions, port, _ in await body(transitions, port.send) }
    }

    /// A feedback whose events come from an input, without a task.
    init(input: Input<Event>) {
        requestType = nil
        begin = { _, port, _ in
            let line = InputLine(input, post: port.post)
            return CustomRun(tell: { _, _ in true }, finish: { line.close() }, work: .connection { line.open() })
        }
    }

    private init(reporting requestType: RequestType?, begin: @escaping Begin) {
        self.requestType = requestType
        self.begin = begin
    }

    /// Makes a run that begins with this state, or returns nil if the state lacks the feedback's part.
    package func attach(_ state: State, _ port: CustomPort<Event>) -> CustomRun<State, Event>? {
        begin(state, port) { [failureEvent] request, error in
            if let event = failureEvent?(request, EffectFailure(error)) { try? await port.send(event) }
        }
    }

    /// This feedback in a loop whose state has this one as a part, at times or always.
    func pullback<Whole: Sendable, WholeEvent: Sendable>(
        value: @escaping @Sendable (Whole) -> State?, embedEvent: @escaping @Sendable (Event) -> WholeEvent,
        extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> CustomFeedback<Whole, WholeEvent> {
        var whole = CustomFeedback<Whole, WholeEvent>(reporting: requestType) { [begin] whole, port, report in
            guard let part = value(whole), let run = begin(part, port.pullback(embedEvent), report) else { return nil }
            return CustomRun(
                tell: { whole, event in
                    guard let part = value(whole) else { return false }
                    return run.tell(part, event.flatMap(extractEvent))
                },
                finish: run.finish, work: run.work)
        }
        if let failureEvent { whole.failureEvent = { failureEvent($0, $1).map(embedEvent) } }
        return whole
    }
}

/// One run of a custom feedback, from its attachment to its end.
package struct CustomRun<State: Sendable, Event: Sendable>: Sendable {
    /// Passes a transition to the run. It returns false if the part has gone, and the run with it.
    package let tell: @Sendable (State, Event?) -> Bool
    /// Ends the transitions, or the connection.
    package let finish: @Sendable () -> Void
    let work: CustomWork
}

/// The work of a run of a custom feedback.
enum CustomWork: Sendable {
    /// Runs in a task of its own.
    case body(@Sendable () async -> Void)
    /// Opens a connection, on the thread that attaches the feedback.
    case connection(@Sendable () -> Void)
}

/// What a loop provides to a run of a custom feedback.
package struct CustomPort<Event: Sendable>: Sendable {
    /// Sends an event from a task.
    package let send: Send<Event>
    /// Queues an event without waiting. Without contention, and outside of a reduction, the event is reduced before the return.
    let post: @Sendable (Event) -> Void
    /// The executor of the run's tasks, or nil for Swift's default.
    package let executor: (any TaskExecutor)?

    package init(
        send: Send<Event>, post: @escaping @Sendable (Event) -> Void, executor: (any TaskExecutor)? = nil
    ) {
        self.send = send
        self.post = post
        self.executor = executor
    }

    func pullback<Local: Sendable>(_ embed: @escaping @Sendable (Local) -> Event) -> CustomPort<Local> {
        CustomPort<Local>(send: send.pullback(embed), post: { [post] in post(embed($0)) }, executor: executor)
    }
}
