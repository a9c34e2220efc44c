// Feedbacks that do not depend on the state.

extension Feedback {
    /// Runs one effect from the loop's start to its end. When the loop ends, events that the effect has sent remain sent.
    public static func source(
        _ name: String, on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        _ body: nonisolated(nonsending) @escaping @Sendable (Send<Event>) async throws -> Void
    ) -> Feedback {
        .switching(
            name, renewal: .never, on: placement, retry: retry, policy: policy,
            effect: { (_: SourceRequest, _) in .run(body) }, derive: { _, _ in .wanted(SourceRequest()) })
    }

    /// Sends every element of an asynchronous sequence.
    public static func source<Events: AsyncSequence & Sendable>(
        _ name: String, events: Events, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy()
    ) -> Feedback where Events.Element == Event {
        .source(name, retry: retry, policy: policy) { send in
            for try await event in events { try await send(event) }
        }
    }

    /// Sends an event for each element of an asynchronous sequence.
    public static func source<Elements: AsyncSequence & Sendable>(
        _ name: String, _ elements: Elements, as event: @escaping @Sendable (Elements.Element) -> Event,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy()
    ) -> Feedback where Elements.Element: Sendable {
        .source(name, retry: retry, policy: policy) { send in
            for try await element in elements { try await send(event(element)) }
        }
    }

    /// Sends the events that other code puts into an `Input`.
    public static func input(_ name: String, _ input: Input<Event>) -> Feedback {
        Feedback(name: name, custom: CustomFeedback(input: input), requestType: nil)
    }

    /// Runs a body that follows every transition and contributes only the events that it sends. The first pair has no
    /// event. The body runs until it returns or the loop ends, which also ends the transitions.
    ///
    /// As a feedback of an optional part, the body is cancelled when the part goes, and runs again when the part comes
    /// again. Events that it sends after its part has gone are refused; earlier ones remain.
    public static func custom(
        _ name: String,
        _ body: @escaping @Sendable (AsyncStream<(state: State, event: Event?)>, Send<Event>) async -> Void
    ) -> Feedback {
        Feedback(name: name, custom: body)
    }
}

/// The request of a source, equal for every state.
package struct SourceRequest: Codable, Equatable, Sendable {}
