internal import LoopLock

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

    /// Sends what others put into a handle.
    public static func input(_ name: String, _ input: Input<Event>) -> Feedback {
        Feedback(name: name) { _, send in
            for await event in input.attach() {
                do { try await send(event) } catch { return }
            }
        }
    }

    /// A body that follows every transition and contributes what it sends, and nothing else. The first pair has no
    /// event. It lives until it returns or the loop ends, which also ends the transitions.
    ///
    /// As a feedback of a part that is not always there, it is cancelled when the part goes, and runs anew when the part
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

/// A handle through which code outside of a loop sends events into it.
///
/// What is sent before the first loop has taken the handle up waits for it. From then on an event goes to every loop
/// that has it at that moment, and nowhere when they have all ended.
public struct Input<Event: Sendable>: Sendable {
    private struct Listeners: Sendable {
        var waiting: [Event] = []
        var streams: [UInt64: AsyncStream<Event>.Continuation] = [:]
        var nextToken: UInt64 = 0
    }

    private let listeners = Locked(Listeners())

    public init() {}

    /// Sends one event, without waiting.
    public func send(_ event: Event) {
        let streams = listeners.withLock { listeners -> [AsyncStream<Event>.Continuation] in
            if listeners.nextToken == 0 { listeners.waiting.append(event) }
            return Array(listeners.streams.values)
        }
        for stream in streams { stream.yield(event) }
    }

    func attach() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        let token = listeners.withLock { listeners in
            // Nobody listens to the stream yet, so that nothing resumes here.
            for event in listeners.waiting { continuation.yield(event) }
            listeners.waiting = []
            listeners.nextToken += 1
            listeners.streams[listeners.nextToken] = continuation
            return listeners.nextToken
        }
        continuation.onTermination = { [listeners] _ in listeners.withLock { $0.streams[token] = nil } }
        return stream
    }
}
