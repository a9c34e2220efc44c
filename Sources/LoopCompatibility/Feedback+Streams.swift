public import LoopCore

// Feedbacks from a stream of states or events to a stream of events or requests. They run in the state's process, and are
// not queries: their work is not a function of the state, so no journal contains it.

extension Feedback {
    /// Sends the events of a sequence that is derived from the states. The sequence is made again each time the feedback is
    /// attached.
    public static func events<Events: AsyncSequence & SendableMetatype>(
        _ name: String? = nil, _ events: @escaping @Sendable (FollowedStates<State>) -> Events,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback where Events.Element == Event {
        .custom(name ?? place(file, line, column)) { transitions, send in
            await sendAll(of: events(FollowedStates(transitions)), send)
        }
    }

    /// Runs an effect for each element of a sequence that is derived from the states. The previous effect is cancelled, and
    /// its later events are refused. An error ends that effect alone, and becomes the event that `failing` makes of it. No
    /// effect is retried, parked or limited, because its request is no function of the state.
    public static func compacting<Requests: AsyncSequence & SendableMetatype>(
        _ name: String? = nil, state transform: @escaping @Sendable (FollowedStates<State>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback where Requests.Element: Sendable {
        .latest(name ?? place(file, line, column), { transform(FollowedStates($0)) }, effects)
    }

    /// `compacting(_:state:effects:)` for a sequence that is derived from the events.
    public static func compacting<Requests: AsyncSequence & SendableMetatype>(
        _ name: String? = nil, events transform: @escaping @Sendable (FollowedEvents<Event>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback where Requests.Element: Sendable {
        .latest(name ?? place(file, line, column), { transform(FollowedEvents($0)) }, effects)
    }

    private static func latest<Requests: AsyncSequence & SendableMetatype>(
        _ name: String, _ requests: @escaping @Sendable (AsyncStream<(state: State, event: Event?)>) -> Requests,
        _ effect: @escaping @Sendable (Requests.Element) -> Effect<Event>
    ) -> Feedback where Requests.Element: Sendable {
        let custom = CustomFeedback<State, Event>(reporting: RequestType(Requests.Element.self)) {
            transitions, port, report in await runLatest(of: requests(transitions), port, report, effect)
        }
        return Feedback(name: name, kind: .custom(custom))
    }

    /// `source(_:_:as:)` without a name.
    public static func source<Elements: AsyncSequence & Sendable>(
        _ elements: Elements, as event: @escaping @Sendable (Elements.Element) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback where Elements.Element: Sendable {
        .source(place(file, line, column), elements, as: event)
    }

    /// A feedback named "input", and the function that sends through it. A loop with two inputs needs `input(_:_:)`.
    public static var input: (feedback: Feedback, observer: @Sendable (Event) -> Void) {
        let input = Input<Event>()
        return (.input("input", input), { input.send($0) })
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
