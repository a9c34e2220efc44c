// How every feedback with one live effect is put together.

extension Feedback {
    package static func switching<Request: Sendable>(
        _ name: String, renewal: SwitchingQuery<State, Event, Request>.Renewal, on placement: Placement,
        retry: Retry?, policy: EffectPolicy,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        derive: @escaping @Sendable (State, Event?) -> SwitchingQuery<State, Event, Request>.Desire
    ) -> Feedback {
        Feedback(
            name: name, placement: placement, policy: policy.with(retry: retry),
            query: { SwitchingQuery(renewal: renewal, derive: derive) }, effect: effect)
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
