public import LoopCollections

// The form with many live effects: one for each element of a set, or for each key of a dictionary. If the element or key
// vanishes, its effect is cancelled; a new one starts one. An effect that has completed is not started again while its
// element or key remains.
//
// A changed request of a kept key goes to the running effect, which reads it from `context.updates(of:)`. An effect that does not
// read newer requests continues with its first one.

extension Feedback {
    /// Keeps one effect live for each element of a set.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - requests: the requests that should be going on.
    ///   - effect: the work for a request.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    public static func react<Request: Hashable & Sendable>(
        _ name: String? = nil, requests: @escaping @Sendable (State) -> Set<Request>,
        effect: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(name ?? place(file, line, column), requests: requests) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    public static func react<Request: Hashable & Sendable>(
        _ name: String? = nil, requests: @escaping @Sendable (State) -> Set<Request>,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .keyed(name ?? place(file, line, column), KeyedSource(requests), effect)
    }

    /// Keeps one effect live for each key of a dictionary. An event that changes the dictionary costs a comparison of every
    /// entry, so use a `TrackedDictionary` for many.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - requests: the requests that should be going on, by key.
    ///   - effect: the work for a request.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    @inlinable
    public static func react<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, requests: @escaping @Sendable (State) -> [Key: Request],
        effect: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(name ?? place(file, line, column), requests: requests) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func react<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, requests: @escaping @Sendable (State) -> [Key: Request],
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .keyed(name ?? place(file, line, column), KeyedSource(requests), effect)
    }

    /// Keeps one effect live for each key of a tracked dictionary. The cost of an event is proportional to the entries that it
    /// changes, if the dictionary is a stored property of the state. One that is made again for each event is compared
    /// entry by entry.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - requests: the stored requests that should be going on, by key.
    ///   - effect: the work for a request.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    @inlinable
    public static func react<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable,
        effect: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(name ?? place(file, line, column), requests: requests) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func react<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .keyed(name ?? place(file, line, column), KeyedSource(requests) { $1 }, effect)
    }

    /// Keeps one effect live for each entry of a tracked dictionary of which a closure makes a request. The cost of an event is
    /// proportional to the entries that it changes.
    ///
    ///     .react("ship", each: \.orders) { number, order in
    ///         order.isPaid ? Shipment(order: number, address: order.address) : nil
    ///     } effect: { shipment in
    ///         .task { try await ship(shipment) }
    ///     }
    ///
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop.
    ///   - entries: the stored entries, such as all orders.
    ///   - request: the request of a key and its entry, or nil for none. A function of the two alone.
    ///   - effect: the work for a request.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    @inlinable
    public static func react<Key: Hashable & Sendable, Entry: Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, each entries: any KeyPath<State, TrackedDictionary<Key, Entry>> & Sendable,
        request: @escaping @Sendable (Key, Entry) -> Request?,
        effect: @escaping @Sendable (Request) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .react(name ?? place(file, line, column), each: entries, request: request) { request, _ in effect(request) }
    }

    /// The form whose effect also gets its `EffectContext`.
    @inlinable
    public static func react<Key: Hashable & Sendable, Entry: Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, each entries: any KeyPath<State, TrackedDictionary<Key, Entry>> & Sendable,
        request: @escaping @Sendable (Key, Entry) -> Request?,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        .keyed(name ?? place(file, line, column), KeyedSource(entries, request), effect)
    }

    /// Not available: a closure hides which entries an event has changed, so every event would cost all entries.
    @available(
        *, unavailable,
        message: """
            Name the stored dictionary: requests: \\.jobs. To choose some of its entries, or to use their keys, write \
            each: \\.jobs, request: { key, job in … }
            """
    )
    public static func react<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, requests: @escaping @Sendable (State) -> TrackedDictionary<Key, Request>,
        effect: @escaping @Sendable (Request) -> Effect<Event>
    ) -> Feedback { preconditionFailure("unavailable") }

    /// Not available, as the form without a context.
    @available(
        *, unavailable,
        message: """
            Name the stored dictionary: requests: \\.jobs. To choose some of its entries, or to use their keys, write \
            each: \\.jobs, request: { key, job in … }
            """
    )
    public static func react<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, requests: @escaping @Sendable (State) -> TrackedDictionary<Key, Request>,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback { preconditionFailure("unavailable") }

    /// Not available: an effect gets what its worker gets, which is the request.
    @available(
        *, unavailable,
        message: """
            An effect gets its request, and after it an EffectContext. Let the request have the key: \
            each: \\.jobs, request: { key, job in … }
            """
    )
    public static func react<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String? = nil, requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable,
        effect: @escaping @Sendable (Key, Request) -> Effect<Event>
    ) -> Feedback { preconditionFailure("unavailable") }

    @usableFromInline
    static func keyed<Key: Hashable & Sendable, Request: Sendable & Equatable>(
        _ name: String, _ source: KeyedSource<State, Key, Request>,
        _ effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) -> Feedback {
        Feedback(name: name, query: { KeyedQuery<State, Event, Key, Request>(source) }, effect: effect)
    }
}
