// The forms with at most one live effect, and those without requests. `Feedback+Requests.swift` has the form with many effects;
// timers and schedules have files of their own. A form without a name is named for the place of its call in the source, which
// suffices for a loop in one process.
//
// Forms of requests have two closures: an effect of the request alone, and an effect that also gets its `EffectContext`.

extension Feedback {
    /// Starts an effect when the request of the state changes, and cancels it when the request is another or nil. An equal
    /// request does nothing, even if the effect has completed. The sequence x, nil, x runs x twice.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - request: the request, or nil for none.
    ///   - effect: the work for a request.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    @inlinable
    public static func react<Request: Sendable & Equatable>(
        _ name: String? = nil, request: @escaping @Sendable (State) -> Request?,
        effect: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(name ?? place(file, line, column), request: request) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func react<Request: Sendable & Equatable>(
        _ name: String? = nil, request: @escaping @Sendable (State) -> Request?,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(name ?? place(file, line, column), renewal: .whenDifferent { $0 == $1 }, effect: effect) {
            state, _ in
            SwitchingQuery.Desire(request(state))
        }
    }

    /// Starts an effect with the state in which the predicate becomes true, and cancels it when the predicate becomes false. States
    /// between the two are ignored. An initial state for which it is true starts one. The request is the state.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - predicate: the condition.
    ///   - effect: the work for the state.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    @inlinable
    public static func whenBecomesTrue(
        _ name: String? = nil, state predicate: @escaping @Sendable (State) -> Bool,
        effect: @escaping @Sendable (State) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .whenBecomesTrue(name ?? place(file, line, column), state: predicate) { state, _ in effect(state) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func whenBecomesTrue(
        _ name: String? = nil, state predicate: @escaping @Sendable (State) -> Bool,
        effect: @escaping @Sendable (State, EffectContext) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(name ?? place(file, line, column), renewal: .never, effect: effect) { state, _ in
            predicate(state) ? .wanted(state) : .nothing
        }
    }

    /// Starts an effect at every event with a payload; the previous one is cancelled first. An event without a payload also
    /// cancels it. The initial state starts none.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - payload: the request in an event, or nil for none.
    ///   - effect: the work for a request.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    @inlinable
    public static func extracting<Request: Sendable>(
        _ name: String? = nil, payload: @escaping @Sendable (Event) -> Request?,
        effect: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .extracting(name ?? place(file, line, column), payload: payload) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func extracting<Request: Sendable>(
        _ name: String? = nil, payload: @escaping @Sendable (Event) -> Request?,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(name ?? place(file, line, column), renewal: .always, effect: effect) { _, event in
            event.map { SwitchingQuery.Desire(payload($0)) } ?? .unchanged
        }
    }
}

// MARK: Forms without requests

extension Feedback {
    /// Runs one effect from the loop's start to its end. When the loop ends, events that the effect has sent remain sent.
    public static func source(
        _ name: String? = nil,
        _ body: nonisolated(nonsending) @escaping @Sendable (Send<Event>) async throws -> Void,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .switching(
            name ?? place(file, line, column), renewal: .never, effect: { (_: SourceRequest, _) in .run(body) },
            derive: { _, _ in .wanted(SourceRequest()) })
    }

    /// Sends an event for each element of an asynchronous sequence, from the loop's start to the end of the sequence.
    public static func source<Elements: AsyncSequence & Sendable>(
        _ name: String?, _ elements: Elements, as event: @escaping @Sendable (Elements.Element) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback where Elements.Element: Sendable {
        .source(name ?? place(file, line, column)) { send in
            for try await element in elements { try await send(event(element)) }
        }
    }

    /// Sends the events that other code puts into an `Input`.
    public static func input(
        _ name: String?, _ input: Input<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        Feedback(name: name ?? place(file, line, column), kind: .custom(CustomFeedback(input: input)))
    }

    /// Runs a body that follows every transition and contributes only the events that it sends. The first pair has no
    /// event. The body runs until it returns or the loop ends, which also ends the transitions.
    ///
    /// As a feedback of an optional part, the body is cancelled when the part goes, and runs again when the part comes
    /// again. Events that it sends after its part has gone are refused; earlier ones remain.
    public static func custom(
        _ name: String? = nil,
        _ body: @escaping @Sendable (AsyncStream<(state: State, event: Event?)>, Send<Event>) async -> Void,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        Feedback(name: name ?? place(file, line, column), kind: .custom(CustomFeedback(body: body)))
    }
}

/// The request of a source, equal for every state.
package struct SourceRequest: Codable, Equatable, Sendable {}

// MARK: The queries of these forms

extension Feedback {
    /// A feedback with at most one live effect. Its query derives what is wanted after each transition.
    @inlinable
    package static func switching<Request: Sendable>(
        _ name: String, renewal: SwitchingQuery<State, Event, Request>.Renewal,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        derive: @escaping @Sendable (State, Event?) -> SwitchingQuery<State, Event, Request>.Desire
    ) -> Feedback {
        .switching(name, renewal, derive, SwitchingQuery<State, Event, Request>.step(renewal, derive), effect)
    }

    /// - Parameter step: the query's evaluation of one transition, created in code that knows the types.
    @usableFromInline
    static func switching<Request: Sendable>(
        _ name: String, _ renewal: SwitchingQuery<State, Event, Request>.Renewal,
        _ derive: @escaping @Sendable (State, Event?) -> SwitchingQuery<State, Event, Request>.Desire,
        _ step: @escaping SwitchingQuery<State, Event, Request>.Step,
        _ effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        Feedback(
            name: name, query: { SwitchingQuery(renewal: renewal, derive: derive, step: step) }, effect: effect)
    }
}
