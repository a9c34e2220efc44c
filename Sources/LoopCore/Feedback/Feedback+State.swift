// Feedbacks whose request follows the state. All have at most one live effect, and cancel it when the query gives nil.
//
// Each comes twice: with an effect of the request alone, and with one that is told about itself as well.

extension Feedback {
    /// Starts an effect at every state with a non-nil value, equal to the one before or not; the old one is cancelled first.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the request, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are tried again, in place of the policy's way.
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

    /// The same, with an effect that is told about itself.
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

    /// Starts an effect whenever the request becomes another one, and cancels it when the request is nil. An equal request
    /// does nothing, also after the effect has completed; x, nil, x runs again.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the request, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are tried again, in place of the policy's way.
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

    /// The same, with an effect that is told about itself.
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

    /// Starts an effect with the first value after nil, ignores the values that follow while there is one, and cancels it
    /// at the next nil. An initial state with a value starts one.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the request, or nil for none.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are tried again, in place of the policy's way.
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

    /// The same, with an effect that is told about itself.
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

    /// Starts an effect with the state in which the predicate becomes true, ignores the states that follow while it stays
    /// so, and cancels it when it becomes false. An initial state for which it is true starts one. The request is the state.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the predicate.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are tried again, in place of the policy's way.
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

    /// The same, with an effect that is told about itself.
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

    /// Starts an effect at every state for which the predicate is true, the old one being cancelled first: the
    /// level-triggered companion of `whenBecomesTrue`. The request is the state.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - state: the predicate.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are tried again, in place of the policy's way.
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

    /// The same, with an effect that is told about itself.
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

    /// Starts an effect at every state; the old one is cancelled first. The request is the state.
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
