// Feedbacks with many live effects, one for each key. If a key vanishes, its effect is cancelled; a new key starts one. An
// effect that has completed is not started again while its key remains.

extension Feedback {
    /// Keeps one effect live for each key of a dictionary.
    ///
    /// A changed request of a kept key goes to the running effect. An effect that does not read newer requests continues
    /// with its first one.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - requests: the requests that should be going on, by key.
    ///   - placement: where the effects run.
    ///   - retry: how failed effects are retried; replaces the policy's own if given.
    ///   - policy: how effects are retried, limited and bounded in time.
    ///   - effect: the work for a request.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: @escaping @Sendable (State) -> [Key: Request], on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .each(name, requests: requests, on: placement, retry: retry, policy: policy) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: @escaping @Sendable (State) -> [Key: Request], on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .keyed(
            name, requests, KeyedQuery<State, Event, Key, Request>.step(requests), isSame: { $0 == $1 },
            on: placement, retry: retry, policy: policy, effect: effect)
    }

    @usableFromInline
    static func keyed<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, _ requests: @escaping @Sendable (State) -> [Key: Request],
        _ step: @escaping KeyedQuery<State, Event, Key, Request>.Step,
        isSame: @escaping @Sendable (Request, Request) -> Bool, on placement: Placement, retry: Retry?,
        policy: EffectPolicy, effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        Feedback(
            name: name, placement: placement, policy: policy.with(retry: retry),
            query: { KeyedQuery(requests: requests, isSame: isSame, step: step) }, effect: effect)
    }

    /// The form whose effect follows its request: the updates are the newer requests of its key.
    @inlinable
    public static func each<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, requests: @escaping @Sendable (State) -> [Key: Request], on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, RequestUpdates<Request>, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .each(name, requests: requests, on: placement, retry: retry, policy: policy) { request, context in
            effect(request, context.updates(of: Request.self), context)
        }
    }

    /// Keeps one effect live for each element of a set.
    @inlinable
    public static func react<Request: Hashable & Sendable>(
        _ name: String, requests: @escaping @Sendable (State) -> Set<Request>, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .react(name, requests: requests, on: placement, retry: retry, policy: policy) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    public static func react<Request: Hashable & Sendable>(
        _ name: String, requests: @escaping @Sendable (State) -> Set<Request>, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        Feedback(
            name: name, placement: placement, policy: policy.with(retry: retry),
            query: { SetQuery<State, Event, Request>(requests: requests) }, effect: effect)
    }

    /// Keeps one effect live for each key of a dictionary; another name of `each(_:requests:)`.
    @inlinable
    public static func react<Key: Hashable & Sendable, Request: Equatable & Sendable>(
        _ name: String, requests: @escaping @Sendable (State) -> [Key: Request], on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request, RequestUpdates<Request>, EffectContext) -> Effect<Event>
    ) -> Feedback {
        .each(name, requests: requests, on: placement, retry: retry, policy: policy, effect: effect)
    }

    /// Keeps one effect live for the request of the state; another name of `skippingRepeated(_:state:)`.
    @inlinable
    public static func react<Request: Equatable & Sendable>(
        _ name: String, request: @escaping @Sendable (State) -> Request?, on placement: Placement = .local,
        retry: Retry? = nil, policy: EffectPolicy = EffectPolicy(),
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback {
        .skippingRepeated(name, state: request, on: placement, retry: retry, policy: policy, effect: effect)
    }
}

/// The newer requests of a keyed effect that continues, in order. A request that was not yet read is replaced by the next
/// one, because only the newest says what should be going on.
public struct RequestUpdates<Request: Sendable>: AsyncSequence, Sendable {
    /// Each element is one newer request.
    public typealias Element = Request
    /// The sequence ends without an error.
    public typealias Failure = Never

    private let updates: AsyncStream<any Sendable>

    init(_ updates: AsyncStream<any Sendable>) { self.updates = updates }

    /// Begins to read the newer requests. All iterators share one stream: each request goes to one of them.
    public func makeAsyncIterator() -> Iterator { Iterator(updates: updates.makeAsyncIterator()) }

    /// The iterator of the newer requests.
    public struct Iterator: AsyncIteratorProtocol {
        var updates: AsyncStream<any Sendable>.Iterator

        /// Waits for the next newer request.
        /// - Returns: nil once the effect is over or cancelled.
        public mutating func next() async -> Request? {
            while let update = await updates.next() {
                if let request = update as? Request { return request }
            }
            return nil
        }
    }
}

extension EffectContext {
    /// The newer requests of this effect. Only the first caller gets them.
    public func updates<Request: Sendable>(of type: Request.Type) -> RequestUpdates<Request> { RequestUpdates(updates) }
}
