// How every feedback with one live effect is put together.

extension Feedback {
    @inlinable
    package static func switching<Request: Sendable>(
        _ name: String, renewal: SwitchingQuery<State, Event, Request>.Renewal, on placement: Placement,
        retry: Retry?, policy: EffectPolicy,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        derive: @escaping @Sendable (State, Event?) -> SwitchingQuery<State, Event, Request>.Desire
    ) -> Feedback {
        .switching(
            name, renewal, derive, SwitchingQuery<State, Event, Request>.step(renewal, derive), on: placement,
            retry: retry, policy: policy, effect: effect)
    }

    /// - Parameter step: what the query does at every transition, made where the types are known.
    @usableFromInline
    static func switching<Request: Sendable>(
        _ name: String, _ renewal: SwitchingQuery<State, Event, Request>.Renewal,
        _ derive: @escaping @Sendable (State, Event?) -> SwitchingQuery<State, Event, Request>.Desire,
        _ step: @escaping SwitchingQuery<State, Event, Request>.Step, on placement: Placement, retry: Retry?,
        policy: EffectPolicy, effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        Feedback(
            name: name, placement: placement, policy: policy.with(retry: retry),
            query: { SwitchingQuery(renewal: renewal, derive: derive, step: step) }, effect: effect)
    }
}

extension EffectPolicy {
    /// The same policy with another way to retry; nil: with its own.
    package func with(retry: Retry?) -> EffectPolicy {
        var copy = self
        copy.retry = retry ?? self.retry
        return copy
    }
}
