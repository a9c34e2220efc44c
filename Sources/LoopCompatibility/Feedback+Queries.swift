public import LoopCore

// Forms of the older libraries that start effects at other moments than the forms of LoopCore do. All have at most one live
// effect, and cancel it before the next one starts. Without a name they are named for the place of their call in the source.
// That is enough for a loop in one process. A loop with a journal, or with workers of other versions, needs stable names, and
// so do two feedbacks made at one place.

// MARK: Requests of the state

extension Feedback {
    /// Starts an effect at every state with a value, even an equal one, and cancels it at nil.
    public static func lensing<Request: Sendable>(
        _ name: String? = nil, state request: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(name ?? place(file, line, column), renewal: .always, effect: { request, _ in effects(request) }) {
            state, _ in .init(request(state))
        }
    }

    /// Starts an effect when the request changes: `react(_:request:effect:)`.
    public static func skippingRepeated<Request: Sendable & Equatable>(
        _ name: String? = nil, state request: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(name ?? place(file, line, column), request: request, effect: effects)
    }

    /// Starts an effect with the first value after nil, ignores further values, and cancels the effect at the next nil. An
    /// initial state with a value starts one.
    public static func firstValueAfterNil<Request: Sendable>(
        _ name: String? = nil, state request: @escaping @Sendable (State) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(name ?? place(file, line, column), renewal: .never, effect: { request, _ in effects(request) }) {
            state, _ in .init(request(state))
        }
    }

    /// `firstValueAfterNil(_:state:effects:)` in the words of Loop.
    public static func firstValueAfterNil<Request: Sendable>(
        _ request: @escaping @Sendable (State) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .firstValueAfterNil(place(file, line, column), state: request, effects: effects)
    }

    /// `whenBecomesTrue(_:state:effect:)` in the words of Loop.
    public static func whenBecomesTrue(
        _ predicate: @escaping @Sendable (State) -> Bool, effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .whenBecomesTrue(place(file, line, column), state: predicate, effect: effects)
    }

    /// Starts an effect at every state for which the predicate is true. The request is the state.
    public static func whileTrue(
        _ name: String? = nil, state predicate: @escaping @Sendable (State) -> Bool,
        effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .lensing(name ?? place(file, line, column), state: { predicate($0) ? $0 : nil }, effects: effects)
    }

    /// Starts an effect at every state. The request is the state.
    public static func everyState(
        _ name: String? = nil, effects: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .lensing(name ?? place(file, line, column), state: { $0 }, effects: effects)
    }

    /// `react(_:request:effect:)` in the words of RxFeedback.
    @_disfavoredOverload
    public static func react<Request: Equatable & Sendable>(
        request: @escaping @Sendable (State) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(place(file, line, column), request: request, effect: effects)
    }

    /// `react(_:requests:effect:)` of a set in the words of RxFeedback.
    @_disfavoredOverload
    public static func react<Request: Hashable & Sendable>(
        requests: @escaping @Sendable (State) -> Set<Request>,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(place(file, line, column), requests: requests, effect: effects)
    }

    /// `react(_:requests:effect:)` of a dictionary in the words of RxFeedback. The effect of a key gets the first request and
    /// those that follow.
    public static func react<Key: Hashable & Sendable, Request: Equatable & Sendable>(
        requests: @escaping @Sendable (State) -> [Key: Request],
        effects: @escaping @Sendable (Request, RequestUpdates<Request>) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(place(file, line, column), requests: requests) { request, context in
            effects(request, context.updates(of: Request.self))
        }
    }
}

// MARK: Requests of the events

// The initial state starts nothing.
extension Feedback {
    /// `extracting(_:payload:effect:)` in the words of Loop.
    @_disfavoredOverload
    public static func extracting<Request: Sendable>(
        payload: @escaping @Sendable (Event) -> Request?, effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .extracting(place(file, line, column), payload: payload, effect: effects)
    }

    /// Starts an effect at every event with a payload. An event without a payload does not stop the effect.
    public static func extractingAndKeeping<Request: Sendable>(
        _ name: String? = nil, payload: @escaping @Sendable (Event) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(name ?? place(file, line, column), renewal: .always, effect: { request, _ in effects(request) }) {
            _, event in event.flatMap(payload).map { .wanted($0) } ?? .unchanged
        }
    }

    /// Starts an effect when the payload of an event differs from the last one, even if that effect has completed. An event
    /// without a payload cancels it and forgets the last payload.
    public static func skippingRepeated<Request: Sendable & Equatable>(
        _ name: String? = nil, events payload: @escaping @Sendable (Event) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(
            name ?? place(file, line, column), renewal: .whenDifferent { $0 == $1 },
            effect: { request, _ in effects(request) },
            derive: { _, event in event.map { .init(payload($0)) } ?? .unchanged })
    }

    /// Starts an effect when the payload of an event differs from the last one, even if that effect has completed. An event
    /// without a payload does not stop the effect.
    public static func skippingRepeatedAndKeeping<Request: Sendable & Equatable>(
        _ name: String? = nil, events payload: @escaping @Sendable (Event) -> Request?,
        effects: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(
            name ?? place(file, line, column), renewal: .whenDifferent { $0 == $1 },
            effect: { request, _ in effects(request) },
            derive: { _, event in event.flatMap(payload).map { .wanted($0) } ?? .unchanged })
    }

    /// Starts an effect for every event, with the state after it and the event.
    public static func middleware(
        _ name: String? = nil, effect: @escaping @Sendable (State, Event) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(
            name ?? place(file, line, column), renewal: .always,
            effect: { (cause: Cause<State, Event>, _) in effect(cause.state, cause.event) },
            derive: { state, event in event.map { .wanted(Cause(state: state, event: $0)) } ?? .unchanged })
    }
}

/// The request of a middleware: a state and the event that led to it.
public struct Cause<State: Sendable, Event: Sendable>: Sendable {
    /// The state after the event.
    public let state: State
    /// The event that led to the state.
    public let event: Event
}

extension Cause: Encodable where State: Encodable, Event: Encodable {}
extension Cause: Decodable where State: Decodable, Event: Decodable {}
extension Cause: Equatable where State: Equatable, Event: Equatable {}
