// Feedbacks from a stream of states or events to a stream of events or requests. They run in the state's process, and are
// not queries: their work is not a function of the state, so no journal contains it.

extension Feedback {
    /// Sends the events of a sequence that is derived from the states. The sequence is made again each time the feedback is
    /// attached.
    public static func events<Events: AsyncSequence & SendableMetatype>(
        _ name: String, _ events: @escaping @Sendable (FollowedStates<State>) -> Events
    ) -> Feedback where Events.Element == Event {
        .custom(name) { transitions, send in
            await sendAll(of: events(FollowedStates(transitions)), send)
        }
    }

    /// Runs an effect for each element of a sequence that is derived from the states. The previous effect is cancelled, and
    /// its later events are refused. An error ends that effect alone, and becomes the event that `failing` makes of it. No
    /// effect is retried, parked or limited, because its request is no function of the state.
    public static func compacting<Requests: AsyncSequence & SendableMetatype>(
        _ name: String, state transform: @escaping @Sendable (FollowedStates<State>) -> Requests,
        effect: @escaping @Sendable (Requests.Element) -> Effect<Event>
    ) -> Feedback where Requests.Element: Sendable {
        .latest(name, of: Requests.Element.self) { transitions, port, report in
            await runLatest(of: transform(FollowedStates(transitions)), port, report, effect)
        }
    }

    /// Runs an effect for each element of a sequence that is derived from the events. The previous effect is cancelled, and
    /// its later events are refused. An error ends that effect alone, and becomes the event that `failing` makes of it. No
    /// effect is retried, parked or limited, because its request is no function of the state.
    public static func compacting<Requests: AsyncSequence & SendableMetatype>(
        _ name: String, events transform: @escaping @Sendable (FollowedEvents<Event>) -> Requests,
        effect: @escaping @Sendable (Requests.Element) -> Effect<Event>
    ) -> Feedback where Requests.Element: Sendable {
        .latest(name, of: Requests.Element.self) { transitions, port, report in
            await runLatest(of: transform(FollowedEvents(transitions)), port, report, effect)
        }
    }

    private static func latest<Request: Sendable>(
        _ name: String, of type: Request.Type,
        _ body:
            @escaping @Sendable (
                AsyncStream<(state: State, event: Event?)>, CustomPort<Event>, @escaping FailureReport
            ) async -> Void
    ) -> Feedback {
        Feedback(name: name, custom: CustomFeedback(reporting: body), requestType: RequestType(type))
    }

    /// Binds the loop to its outside: each subscription follows the states, each sequence brings events. All begin when the
    /// feedback is attached and are cancelled when it ends.
    public static func bind(
        _ name: String, _ bindings: @escaping @Sendable () -> Bindings<State, Event>
    ) -> Feedback {
        .custom(name) { transitions, send in
            let bindings = bindings()
            await withTaskGroup(of: Void.self) { group in
                var streams: [AsyncStream<State>.Continuation] = []
                for subscription in bindings.subscriptions {
                    let (stream, continuation) = AsyncStream<State>.makeStream()
                    streams.append(continuation)
                    group.addTask { await subscription(FollowedStates(stream)) }
                }
                for events in bindings.events { group.addTask { await events(send) } }
                for await (state, _) in transitions { for stream in streams { stream.yield(state) } }
                for stream in streams { stream.finish() }
                group.cancelAll()
            }
        }
    }
}

/// The subscriptions and events that a `bind` feedback connects to the loop.
public struct Bindings<State: Sendable, Event: Sendable>: Sendable {
    let subscriptions: [@Sendable (FollowedStates<State>) async -> Void]
    let events: [@Sendable (Send<Event>) async -> Void]

    /// - Parameters:
    ///   - subscriptions: functions that each get the states, beginning with the present one.
    ///   - events: functions that each send events until they return.
    public init(
        subscriptions: [@Sendable (FollowedStates<State>) async -> Void] = [],
        events: [@Sendable (Send<Event>) async -> Void] = []
    ) {
        self.subscriptions = subscriptions
        self.events = events
    }
}

/// The states that a feedback follows, from the one at which it was attached. There is one reader.
public struct FollowedStates<State: Sendable>: AsyncSequence, Sendable {
    /// Each element is one state of the loop.
    public typealias Element = State
    /// The sequence ends without an error.
    public typealias Failure = Never

    private let makeNext: @Sendable () -> () async -> State?

    init(_ states: AsyncStream<State>) {
        makeNext = {
            var iterator = states.makeAsyncIterator()
            return { await iterator.next() }
        }
    }

    init<Event: Sendable>(_ transitions: AsyncStream<(state: State, event: Event?)>) {
        makeNext = {
            var iterator = transitions.makeAsyncIterator()
            return { await iterator.next()?.state }
        }
    }

    /// Begins to read the states. Iterators share the stream: each state goes to one of them.
    public func makeAsyncIterator() -> Iterator { Iterator(take: makeNext()) }

    /// The iterator of the states.
    public struct Iterator: AsyncIteratorProtocol {
        let take: () async -> State?

        /// Waits for the next state.
        /// - Returns: nil once the feedback has ended.
        public mutating func next() async -> State? { await take() }
    }
}

/// The events that a feedback follows. There is one reader.
public struct FollowedEvents<Event: Sendable>: AsyncSequence, Sendable {
    /// Each element is one event that was applied.
    public typealias Element = Event
    /// The sequence ends without an error.
    public typealias Failure = Never

    private let makeNext: @Sendable () -> () async -> Event?

    init<State: Sendable>(_ transitions: AsyncStream<(state: State, event: Event?)>) {
        makeNext = {
            var iterator = transitions.makeAsyncIterator()
            return {
                while let transition = await iterator.next() {
                    if let event = transition.event { return event }
                }
                return nil
            }
        }
    }

    /// Begins to read the events. Iterators share the stream: each event goes to one of them.
    public func makeAsyncIterator() -> Iterator { Iterator(take: makeNext()) }

    /// The iterator of the events.
    public struct Iterator: AsyncIteratorProtocol {
        let take: () async -> Event?

        /// Waits for the next event.
        /// - Returns: nil once the feedback has ended.
        public mutating func next() async -> Event? { await take() }
    }
}
