// Feedbacks whose request follows the state. All have at most one live effect, and cancel it when the query returns nil.
//
// Each has two forms: an effect of the request alone, and an effect that also gets its `EffectContext`.

extension Feedback {
    /// Starts an effect at every state with a non-nil value, even an equal one. The previous effect is cancelled first.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the request, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func lensing<Request: Sendable>(
        _ name: String, state: @escaping @Sendable (State) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .lensing(name, state: state, on: placement, retry: retry, policy: policy) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func lensing<Request: Sendable>(
        _ name: String, state: @escaping @Sendable (State) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .always, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { current, _ in state(current).map { .wanted($0) } ?? .nothing })
    }

    /// Starts an effect when the request changes, and cancels it when the request is nil. An equal request does nothing,
    /// even if the effect has completed. The sequence x, nil, x runs x twice.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the request, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func skippingRepeated<Request: Sendable & Equatable>(
        _ name: String, state: @escaping @Sendable (State) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .skippingRepeated(name, state: state, on: placement, retry: retry, policy: policy) { request, _ in
            effect(request)
        }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func skippingRepeated<Request: Sendable & Equatable>(
        _ name: String, state: @escaping @Sendable (State) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .whenDifferent { $0 == $1 }, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { current, _ in state(current).map { .wanted($0) } ?? .nothing })
    }

    /// Starts an effect with the first value after nil, ignores further values, and cancels the effect at the next nil. An
    /// initial state with a value starts one.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the request, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func firstValueAfterNil<Request: Sendable>(
        _ name: String, state: @escaping @Sendable (State) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .firstValueAfterNil(name, state: state, on: placement, retry: retry, policy: policy) { request, _ in
            effect(request)
        }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func firstValueAfterNil<Request: Sendable>(
        _ name: String, state: @escaping @Sendable (State) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .never, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { current, _ in state(current).map { .wanted($0) } ?? .nothing })
    }

    /// Starts an effect with the state in which the predicate becomes true, and cancels it when the predicate becomes false. States
    /// between the two are ignored. An initial state for which it is true starts one. The request is the state.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the predicate.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func whenBecomesTrue(
        _ name: String, state: @escaping @Sendable (State) -> Bool, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (State) -> Effect<Event>
    ) -> Feedback {
        .whenBecomesTrue(name, state: state, on: placement, retry: retry, policy: policy) { request, _ in
            effect(request)
        }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func whenBecomesTrue(
        _ name: String, state: @escaping @Sendable (State) -> Bool, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (State, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .never, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { current, _ in state(current) ? .wanted(current) : .nothing })
    }

    /// Starts an effect at every state for which the predicate is true; the previous one is cancelled first. This is the
    /// level-triggered form of `whenBecomesTrue`. The request is the state.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the predicate.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func whileTrue(
        _ name: String, state: @escaping @Sendable (State) -> Bool, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (State) -> Effect<Event>
    ) -> Feedback {
        .whileTrue(name, state: state, on: placement, retry: retry, policy: policy) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func whileTrue(
        _ name: String, state: @escaping @Sendable (State) -> Bool, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (State, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .always, on: placement, retry: retry, policy: policy, effect: effect,
            derive: { current, _ in state(current) ? .wanted(current) : .nothing })
    }

    /// Starts an effect at every state; the previous one is cancelled first. The request is the state.
    @inlinable
    public static func everyState(
        _ name: String, on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (State) -> Effect<Event>
    ) -> Feedback {
        .switching(
            name, renewal: .always, on: placement, retry: retry, policy: policy,
            effect: { request, _ in effect(request) }, derive: { current, _ in .wanted(current) })
    }
}
