public import LoopCore

// The names of feedbacks in Loop, ReactiveFeedback, RxFeedback and CombineFeedback that differ from ours: without a name, and with
// `effects:`. The name of such a feedback is its location in the source. That is enough for a loop in one process. A loop with a
// journal, or with workers of other versions, needs stable names, and so do two feedbacks made at one location.

extension Feedback {
    /// `lensing(_:state:effect:)` without a name.
    @inlinable
    public static func lensing<Request: Sendable>(
        state: @escaping @Sendable (State) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .lensing(place(file, line, column), state: state, effect: effects)
    }

    /// `skippingRepeated(_:state:effect:)` without a name.
    @inlinable
    public static func skippingRepeated<Request: Sendable & Equatable>(
        state: @escaping @Sendable (State) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .skippingRepeated(place(file, line, column), state: state, effect: effects)
    }

    /// `firstValueAfterNil(_:state:effect:)` without a name.
    @inlinable
    public static func firstValueAfterNil<Request: Sendable>(
        _ state: @escaping @Sendable (State) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .firstValueAfterNil(place(file, line, column), state: state, effect: effects)
    }

    /// `whenBecomesTrue(_:state:effect:)` without a name.
    @inlinable
    public static func whenBecomesTrue(
        _ predicate: @escaping @Sendable (State) -> Bool, effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .whenBecomesTrue(place(file, line, column), state: predicate, effect: effects)
    }

    /// `compacting(_:state:effect:)` without a name.
    @inlinable
    public static func compacting<Requests: AsyncSequence & SendableMetatype>(
        state: @escaping @Sendable (FollowedStates<State>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback where Requests.Element: Sendable {
        .compacting(place(file, line, column), state: state, effect: effects)
    }

    /// `compacting(_:events:effect:)` without a name.
    @inlinable
    public static func compacting<Requests: AsyncSequence & SendableMetatype>(
        events: @escaping @Sendable (FollowedEvents<Event>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback where Requests.Element: Sendable {
        .compacting(place(file, line, column), events: events, effect: effects)
    }

    /// `extracting(_:payload:effect:)` without a name.
    @inlinable
    public static func extracting<Request: Sendable>(
        payload: @escaping @Sendable (Event) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .extracting(place(file, line, column), payload: payload, effect: effects)
    }

    /// `skippingRepeated(_:events:effect:)` without a name.
    @inlinable
    public static func skippingRepeated<Request: Sendable & Equatable>(
        events: @escaping @Sendable (Event) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .skippingRepeated(place(file, line, column), events: events, effect: effects)
    }

    /// `middleware(_:effect:)` without a name.
    @inlinable
    public static func middleware(
        effect: @escaping @Sendable (State, Event) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .middleware(place(file, line, column), effect: effect)
    }

    /// `react(_:request:effect:)` without a name.
    @inlinable
    public static func react<Request: Equatable & Sendable>(
        request: @escaping @Sendable (State) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(place(file, line, column), request: request, effect: effects)
    }

    /// `react(_:requests:effect:)` without a name: one effect for each element of a set.
    @inlinable
    public static func react<Request: Hashable & Sendable>(
        requests: @escaping @Sendable (State) -> Set<Request>,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(place(file, line, column), requests: requests, effect: effects)
    }

    /// `each(_:requests:effect:)` without a name: one effect for each key of a dictionary, which gets the first request of
    /// its key and those that follow.
    @inlinable
    public static func react<Key: Hashable & Sendable, Request: Equatable & Sendable>(
        requests: @escaping @Sendable (State) -> [Key: Request],
        effects: @escaping @Sendable (Request, RequestUpdates<Request>) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .each(place(file, line, column), requests: requests) { request, updates, _ in effects(request, updates) }
    }

    /// `source(_:_:as:)` without a name.
    @inlinable
    public static func source<Elements: AsyncSequence & Sendable>(
        _ elements: Elements, as event: @escaping @Sendable (Elements.Element) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback where Elements.Element: Sendable {
        .source(place(file, line, column), elements, as: event)
    }

    /// `custom(_:_:)` without a name.
    @inlinable
    public static func custom(
        _ body: @escaping @Sendable (AsyncStream<(state: State, event: Event?)>, Send<Event>) async -> Void,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .custom(place(file, line, column), body)
    }

    /// `bind(_:_:)` without a name.
    @inlinable
    public static func bind(
        _ bindings: @escaping @Sendable () -> Bindings<State, Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .bind(place(file, line, column), bindings)
    }

    /// A feedback named "input", and the function that sends through it. A loop with two inputs needs `input(_:_:)`.
    public static var input: (feedback: Feedback, observer: @Sendable (Event) -> Void) {
        let input = Input<Event>()
        return (.input("input", input), { input.send($0) })
    }
}

// The first generation's initializers.
extension Feedback {
    /// `skippingRepeated(_:state:effect:)` by its first name.
    @inlinable
    public init<Request: Sendable & Equatable>(
        skippingRepeated state: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .skippingRepeated(place(file, line, column), state: state, effect: effects)
    }

    /// `lensing(_:state:effect:)` by its first name.
    @inlinable
    public init<Request: Sendable>(
        lensing state: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .lensing(place(file, line, column), state: state, effect: effects)
    }

    /// `whileTrue(_:state:effect:)` by its first name: an effect at every state for which the predicate is true. Use
    /// `whenBecomesTrue` for an effect only when the predicate becomes true.
    @inlinable
    public init(
        predicate: @escaping @Sendable (State) -> Bool, effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .whileTrue(place(file, line, column), state: predicate, effect: effects)
    }

    /// `everyState(_:effect:)` by its first name.
    @inlinable
    public init(
        effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .everyState(place(file, line, column), effect: effects)
    }

    /// `events(_:_:)` by its first name.
    @inlinable
    public init<Events: AsyncSequence & SendableMetatype>(
        events: @escaping @Sendable (FollowedStates<State>) -> Events,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Events.Element == Event {
        self = .events(place(file, line, column), events)
    }
}
