public import LoopCollections

// Keyed feedbacks of large sets of requests, at a cost proportional to the changes.

extension Feedback {
    /// Keeps one effect live for each key of a tracked dictionary, as for a `Dictionary` of the same entries. The cost of
    /// an event is proportional to the entries that it changes.
    ///
    /// That is true if `requests` is a stored property of the state, or derived by changes from its last value. A
    /// dictionary that is made again at each call is compared entry by entry.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - requests: the requests that should be going on, by key.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: @escaping @Sendable (State) -> TrackedDictionary<Key, Request>,
        on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .each(name, requests: requests, on: placement, retry: retry, policy: policy) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: @escaping @Sendable (State) -> TrackedDictionary<Key, Request>,
        on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .tracked(name, TrackedStep(requests), on: placement, retry: retry, policy: policy, effect: effect)
    }

    /// The form whose effect follows its request: the updates are the newer requests of its key.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: @escaping @Sendable (State) -> TrackedDictionary<Key, Request>,
        on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, RequestUpdates<Request>, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .each(name, requests: requests, on: placement, retry: retry, policy: policy) { request, context in
            effect(request, context.updates(of: Request.self), context)
        }
    }

    /// The form for a stored property, at the lowest cost.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable,
        on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .each(name, requests: requests, on: placement, retry: retry, policy: policy) { request, _ in effect(request) }
    }

    /// The form for a stored property whose effect also gets its `EffectContext`.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable,
        on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .tracked(name, TrackedStep(requests), on: placement, retry: retry, policy: policy, effect: effect)
    }

    /// The form for a stored property whose effect follows its request.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable,
        on placement: Placement = .local, retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, RequestUpdates<Request>, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .each(name, requests: requests, on: placement, retry: retry, policy: policy) { request, context in
            effect(request, context.updates(of: Request.self), context)
        }
    }

    @usableFromInline
    static func tracked<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, _ step: TrackedStep<State, Key, Request>, on placement: Placement, retry: Retry?,
        policy: EffectPolicy, effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        Feedback(
            name: name, placement: placement, policy: policy.with(retry: retry),
            query: { TrackedQuery<State, Event, Key, Request>(step: step) }, effect: effect)
    }
}
