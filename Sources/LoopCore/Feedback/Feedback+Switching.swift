// The common initialiser of feedbacks with one live effect.

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

    /// - Parameter step: the query's evaluation of one transition, created in code that knows the types.
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
    /// This policy with another way to retry, or unchanged for nil.
    package func with(retry: Retry?) -> EffectPolicy {
        var copy = self
        copy.retry = retry ?? self.retry
        return copy
    }
}
