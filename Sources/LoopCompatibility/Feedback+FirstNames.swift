public import LoopCore

// Initialisers that feedbacks had before the forms had names of their own, and RxFeedback's first word for a request. As in
// `Feedback+Queries.swift`, their location in the source is their name.

extension Feedback {
    /// The older name of `compacting(state:effects:)`.
    public init<Requests: AsyncSequence & SendableMetatype>(
        compactingState state: @escaping @Sendable (FollowedStates<State>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Requests.Element: Sendable {
        self = .compacting(state: state, effects: effects, file: file, line: line, column: column)
    }

    /// The oldest name of `compacting(state:effects:)`.
    public init<Requests: AsyncSequence & SendableMetatype>(
        compacting state: @escaping @Sendable (FollowedStates<State>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Requests.Element: Sendable {
        self = .compacting(state: state, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `compacting(events:effects:)`.
    public init<Requests: AsyncSequence & SendableMetatype>(
        compactingEvents events: @escaping @Sendable (FollowedEvents<Event>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Requests.Element: Sendable {
        self = .compacting(events: events, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `skippingRepeated(state:effects:)`.
    public init<Request: Sendable & Equatable>(
        skippingRepeatedState state: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .skippingRepeated(state: state, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `skippingRepeated(events:effects:)`.
    public init<Request: Sendable & Equatable>(
        skippingRepeatedEvents events: @escaping @Sendable (Event) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .skippingRepeated(events: events, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `extracting(payload:effects:)`.
    public init<Request: Sendable>(
        extractingPayload payload: @escaping @Sendable (Event) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .extracting(payload: payload, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `firstValueAfterNil(_:effects:)`.
    public init<Request: Sendable>(
        firstValueAfterNil state: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .firstValueAfterNil(state, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `whenBecomesTrue(_:effects:)`.
    public init(
        whenBecomesTrue predicate: @escaping @Sendable (State) -> Bool,
        effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .whenBecomesTrue(predicate, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `source(_:as:)`.
    public init<Elements: AsyncSequence & Sendable>(
        source elements: Elements, as event: @escaping @Sendable (Elements.Element) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Elements.Element: Sendable {
        self = .source(elements, as: event, file: file, line: line, column: column)
    }

    /// The oldest name of `skippingRepeated(state:effects:)`, which it meant for requests that are `Equatable`.
    public init<Request: Sendable & Equatable>(
        query: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .skippingRepeated(state: query, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `extracting(payload:effects:)`.
    public static func lensing<Request: Sendable>(
        event payload: @escaping @Sendable (Event) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .extracting(payload: payload, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `react(request:effects:)`.
    public static func react<Request: Equatable & Sendable>(
        query: @escaping @Sendable (State) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(request: query, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `react(requests:effects:)`, for a set.
    public static func react<Request: Hashable & Sendable>(
        query: @escaping @Sendable (State) -> Set<Request>,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(requests: query, effects: effects, file: file, line: line, column: column)
    }

    // The first generation's initialisers.

    /// `skippingRepeated(_:state:effects:)` by its first name.
    public init<Request: Sendable & Equatable>(
        skippingRepeated state: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .skippingRepeated(place(file, line, column), state: state, effects: effects)
    }

    /// `lensing(_:state:effects:)` by its first name.
    public init<Request: Sendable>(
        lensing state: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .lensing(place(file, line, column), state: state, effects: effects)
    }

    /// `whileTrue(_:state:effects:)` by its first name: an effect at every state for which the predicate is true. Use
    /// `whenBecomesTrue` for an effect only when the predicate becomes true.
    public init(
        predicate: @escaping @Sendable (State) -> Bool, effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .whileTrue(place(file, line, column), state: predicate, effects: effects)
    }

    /// `everyState(_:effects:)` by its first name.
    public init(
        effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .everyState(place(file, line, column), effects: effects)
    }

    /// `events(_:_:)` by its first name.
    public init<Events: AsyncSequence & SendableMetatype>(
        events: @escaping @Sendable (FollowedStates<State>) -> Events,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Events.Element == Event {
        self = .events(place(file, line, column), events)
    }
}
