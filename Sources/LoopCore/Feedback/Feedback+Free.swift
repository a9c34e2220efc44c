// Feedbacks that do not depend on the state.

extension Feedback {
    /// Runs one effect from the loop's start to its end. When it ends, what it has sent stays sent.
    public static func source(
        _ name: String, on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        _ body: nonisolated(nonsending) @escaping @Sendable (Send<Event>) async throws -> Void
    ) -> Feedback {
        .switching(
            name, renewal: .never, on: placement, retry: retry, policy: policy,
            effect: { (_: SourceRequest, _) in .run(body) }, derive: { _, _ in .wanted(SourceRequest()) })
    }

    /// Sends what an asynchronous sequence brings.
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

    /// Sends what others put into an `Input`.
    public static func input(_ name: String, _ input: Input<Event>) -> Feedback {
        Feedback(name: name, custom: CustomFeedback(input: input), requestType: nil)
    }

    /// A body that follows every transition and contributes what it sends, and nothing else. The first pair has no
    /// event. It lives until it returns or the loop ends, which also ends the transitions.
    ///
    /// As a feedback of a part that is not always there, it is cancelled when the part goes, and runs again when the part
    /// comes again. What it sends after its part has gone is refused; what it has sent before stays.
    public static func custom(
        _ name: String,
        _ body: @escaping @Sendable (AsyncStream<(state: State, event: Event?)>, Send<Event>) async -> Void
    ) -> Feedback {
        Feedback(name: name, custom: body)
    }
}

/// The request of a source: the same at every state.
package struct SourceRequest: Codable, Equatable, Sendable {}
