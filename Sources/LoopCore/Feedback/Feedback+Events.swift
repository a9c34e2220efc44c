// Feedbacks whose request follows the events. The first evaluation has no event, and changes nothing.
//
// Each has two forms: an effect of the request alone, and an effect that also gets its `EffectContext`.

extension Feedback {
    /// Starts an effect at every event with a payload; the previous one is cancelled first. An event without a payload also
    /// cancels it.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - payload: the request in an event, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func extracting<Request: Sendable>(
        _ name: String, payload: @escaping @Sendable (Event) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .extracting(name, payload: payload, on: placement, retry: retry, policy: policy) { request, _ in effect(request)
        }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func extracting<Request: Sendable>(
        _ name: String, payload: @escaping @Sendable (Event) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .always, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { _, event in event.map { payload($0).map { .wanted($0) } ?? .nothing } ?? .unchanged })
    }

    /// Starts an effect at every event with a payload; the previous one is cancelled first. An event without a payload does
    /// not stop the effect.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - payload: the request in an event, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func extractingAndKeeping<Request: Sendable>(
        _ name: String, payload: @escaping @Sendable (Event) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .extractingAndKeeping(name, payload: payload, on: placement, retry: retry, policy: policy) { request, _ in
            effect(request)
        }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func extractingAndKeeping<Request: Sendable>(
        _ name: String, payload: @escaping @Sendable (Event) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .always, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { _, event in event.flatMap(payload).map { .wanted($0) } ?? .unchanged })
    }

    /// Starts an effect when the payload of an event differs from the last one, even if that effect has completed. The
    /// previous effect is cancelled first. An event without a payload cancels it and forgets the last payload.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - events: the request in an event, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func skippingRepeated<Request: Sendable & Equatable>(
        _ name: String, events: @escaping @Sendable (Event) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .skippingRepeated(name, events: events, on: placement, retry: retry, policy: policy) { request, _ in
            effect(request)
        }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func skippingRepeated<Request: Sendable & Equatable>(
        _ name: String, events: @escaping @Sendable (Event) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .whenDifferent { $0 == $1 }, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { _, event in event.map { events($0).map { .wanted($0) } ?? .nothing } ?? .unchanged })
    }

    /// Starts an effect when the payload of an event differs from the last one, even if that effect has completed. The
    /// previous effect is cancelled first. An event without a payload does not stop the effect.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - events: the request in an event, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func skippingRepeatedAndKeeping<Request: Sendable & Equatable>(
        _ name: String, events: @escaping @Sendable (Event) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .skippingRepeatedAndKeeping(name, events: events, on: placement, retry: retry, policy: policy) { request, _ in
            effect(request)
        }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func skippingRepeatedAndKeeping<Request: Sendable & Equatable>(
        _ name: String, events: @escaping @Sendable (Event) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .whenDifferent { $0 == $1 }, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { _, event in event.flatMap(events).map { .wanted($0) } ?? .unchanged })
    }

    /// Starts an effect for every event, with the state after it and the event. The previous one is cancelled first. The
    /// initial state starts none.
    @inlinable
    public static func middleware(
        _ name: String, on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (State, Event) -> Effect<Event>
    ) -> Feedback {
        .middleware(name, on: placement, retry: retry, policy: policy) { state, event, _ in effect(state, event) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func middleware(
        _ name: String, on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (State, Event, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .always, on: placement, retry: retry, policy: policy,
            effect: { (cause: Cause<State, Event>, context) in effect(cause.state, cause.event, context) },
            derive: { state, event in event.map { .wanted(Cause(state: state, event: $0)) } ?? .unchanged })
    }
}

/// The request of a middleware: a state and the event that led to it.
public struct Cause<State: Sendable, Event: Sendable>: Sendable {
    /// The state after the event.
    public let state: State
    /// The event that led to the state.
    public let event: Event

    @usableFromInline
    init(state: State, event: Event) {
        self.state = state
        self.event = event
    }
}

extension Cause: Encodable where State: Encodable, Event: Encodable {}
extension Cause: Decodable where State: Decodable, Event: Decodable {}
extension Cause: Equatable where State: Equatable, Event: Equatable {}
