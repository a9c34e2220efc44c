public import LoopCore

// Initialisers that feedbacks had before the forms had names of their own, and RxFeedback's first word for a request. As in
// `Feedback+OldNames.swift`, their location in the source is their name.

extension Feedback {
    /// The older name of `compacting(state:effects:)`.
    @inlinable
    public init<Requests: AsyncSequence & SendableMetatype>(
        compactingState state: @escaping @Sendable (FollowedStates<State>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Requests.Element: Sendable {
        self = .compacting(state: state, effects: effects, file: file, line: line, column: column)
    }

    /// The oldest name of `compacting(state:effects:)`.
    @inlinable
    public init<Requests: AsyncSequence & SendableMetatype>(
        compacting state: @escaping @Sendable (FollowedStates<State>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Requests.Element: Sendable {
        self = .compacting(state: state, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `compacting(events:effects:)`.
    @inlinable
    public init<Requests: AsyncSequence & SendableMetatype>(
        compactingEvents events: @escaping @Sendable (FollowedEvents<Event>) -> Requests,
        effects: @escaping @Sendable (Requests.Element) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Requests.Element: Sendable {
        self = .compacting(events: events, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `skippingRepeated(state:effects:)`.
    @inlinable
    public init<Request: Sendable & Equatable>(
        skippingRepeatedState state: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .skippingRepeated(state: state, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `skippingRepeated(events:effects:)`.
    @inlinable
    public init<Request: Sendable & Equatable>(
        skippingRepeatedEvents events: @escaping @Sendable (Event) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .skippingRepeated(events: events, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `extracting(payload:effects:)`.
    @inlinable
    public init<Request: Sendable>(
        extractingPayload payload: @escaping @Sendable (Event) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .extracting(payload: payload, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `firstValueAfterNil(_:effects:)`.
    @inlinable
    public init<Request: Sendable>(
        firstValueAfterNil state: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .firstValueAfterNil(state, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `whenBecomesTrue(_:effects:)`.
    @inlinable
    public init(
        whenBecomesTrue predicate: @escaping @Sendable (State) -> Bool,
        effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .whenBecomesTrue(predicate, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `source(_:as:)`.
    @inlinable
    public init<Elements: AsyncSequence & Sendable>(
        source elements: Elements, as event: @escaping @Sendable (Elements.Element) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) where Elements.Element: Sendable {
        self = .source(elements, as: event, file: file, line: line, column: column)
    }

    /// The oldest name of `skippingRepeated(state:effects:)`, which it meant for requests that are `Equatable`.
    @inlinable
    public init<Request: Sendable & Equatable>(
        query: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) {
        self = .skippingRepeated(state: query, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `extracting(payload:effects:)`.
    @inlinable
    public static func lensing<Request: Sendable>(
        event payload: @escaping @Sendable (Event) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .extracting(payload: payload, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `react(request:effects:)`.
    @inlinable
    public static func react<Request: Equatable & Sendable>(
        query: @escaping @Sendable (State) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(request: query, effects: effects, file: file, line: line, column: column)
    }

    /// The older name of `react(requests:effects:)`, for a set.
    @inlinable
    public static func react<Request: Hashable & Sendable>(
        query: @escaping @Sendable (State) -> Set<Request>,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(requests: query, effects: effects, file: file, line: line, column: column)
    }
}
