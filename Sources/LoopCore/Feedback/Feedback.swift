internal import LoopCollections

/// Joins a pure query, which derives requests from the state, to an effect, which fulfils a request and sends events.
///
/// A feedback's name is the same in every process. Where its effects run is its `placement`; how they are retried and
/// limited is its `policy`. The request type is erased here; `Feedback+….swift` hold the ways to make one.
public struct Feedback<State: Sendable, Event: Sendable>: Sendable {
    /// Loops with workers or a journal know a feedback by it.
    public internal(set) var name: String
    /// Where the effects run. Workers need requests that are `Codable`.
    public var placement: Placement
    /// How the effects are retried, limited and bounded in time.
    public var policy: EffectPolicy

    /// A fresh query machine, or nil for a feedback that derives no requests (`custom`).
    package let makeQuery: (@Sendable () -> any FeedbackQuery<State, Event>)?
    /// Fulfils a request.
    package let effect: @Sendable (any Sendable, EffectContext) -> Effect<Event>
    /// How requests cross a process; nil where the request type is not `Codable`.
    package let requestCoding: RequestCoding?
    /// The concurrency and rate group of a request, where limits per group are wanted.
    package var group: (@Sendable (any Sendable) -> String)?
    /// The priority of a request, where effects have one.
    package var priority: (@Sendable (any Sendable) -> Int32)?
    /// The event for an effect that has failed for good. Without one the effect is parked.
    package var failureEvent: (@Sendable (any Sendable, EffectFailure) -> Event?)?
    /// A feedback that sees every transition and contributes only what it sends.
    package var custom: CustomFeedback<State, Event>?
    /// What a timer sends, and when; nil for every other feedback.
    package var timer: FeedbackTimer<Event>?
    /// When a schedule runs, and what a run sends; nil for every other feedback.
    package let schedule: FeedbackSchedule<Event>?
    /// The type of the requests, for modifiers that name it again; nil for `custom`. `compacting` has one, and no query.
    package let requestType: RequestType?
    /// What a combined feedback consists of; nil for every other.
    package let parts: [Feedback]?
    /// What is wrong with the feedback, in a sentence for its author, or nil. A loop with such a feedback does not start.
    package private(set) var mistake: String?

    package init<Request: Sendable>(
        name: String,
        placement: Placement,
        policy: EffectPolicy,
        query: @escaping @Sendable () -> any FeedbackQuery<State, Event>,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) {
        self.name = name
        self.placement = placement
        self.policy = policy
        makeQuery = query
        self.effect = { request, context in
            if let made = Self.fulfil(request, as: Request.self, context, effect) { return made }
            return effect(Self.cast(request, to: Request.self, of: name), context)
        }
        requestCoding = RequestCoding(Request.self)
        group = nil
        priority = nil
        failureEvent = nil
        custom = nil
        schedule = nil
        requestType = RequestType(Request.self)
        parts = nil
    }

    /// Fulfils a request that is of this very type, without asking the runtime what it could be cast to; nil: it is another.
    private static func fulfil<Known: Sendable, Request: Sendable>(
        _ known: Known, as type: Request.Type, _ context: EffectContext,
        _ effect: (Request, EffectContext) -> Effect<Event>
    ) -> Effect<Event>? {
        Lent.read(known, as: type) { effect($0, context) }
    }

    // Apart, because the types that a cast needs are looked up before it is known whether there will be one.
    @inline(never)
    private static func cast<Request: Sendable>(
        _ request: any Sendable, to type: Request.Type, of name: String
    ) -> Request {
        guard let request = request as? Request else {
            preconditionFailure("feedback \(name) was handed a \(Swift.type(of: request)) for a \(Request.self)")
        }
        return request
    }

    /// The same feedback in a loop of other states and events.
    package init<LocalState, LocalEvent>(
        derived base: Feedback<LocalState, LocalEvent>, query: (@Sendable () -> any FeedbackQuery<State, Event>)?,
        effect: @escaping @Sendable (any Sendable, EffectContext) -> Effect<Event>,
        failureEvent: (@Sendable (any Sendable, EffectFailure) -> Event?)?, custom: CustomFeedback<State, Event>?,
        timer: FeedbackTimer<Event>? = nil, schedule: FeedbackSchedule<Event>? = nil
    ) {
        name = base.name
        placement = base.placement
        policy = base.policy
        makeQuery = query
        self.effect = effect
        requestCoding = base.requestCoding
        group = base.group
        priority = base.priority
        self.failureEvent = failureEvent
        self.custom = custom
        self.timer = timer
        self.schedule = schedule
        requestType = base.requestType
        parts = nil
        mistake = base.mistake
    }

    package init(name: String, custom: @escaping CustomBody<State, Event>) {
        self.init(name: name, custom: CustomFeedback(body: custom), requestType: nil)
    }

    init(name: String, custom: CustomFeedback<State, Event>, requestType: RequestType?) {
        self.name = name
        placement = .local
        policy = EffectPolicy()
        makeQuery = nil
        effect = { _, _ in .none }
        requestCoding = nil
        group = nil
        priority = nil
        failureEvent = nil
        self.custom = custom
        schedule = nil
        self.requestType = requestType
        parts = nil
    }

    init(name: String, schedule: FeedbackSchedule<Event>) {
        self.name = name
        placement = .reducer
        policy = EffectPolicy()
        makeQuery = nil
        effect = { _, _ in .none }
        requestCoding = nil
        group = nil
        failureEvent = nil
        custom = nil
        self.schedule = schedule
        requestType = nil
        parts = nil
    }
}

extension Feedback {
    package init(combining parts: [Feedback]) {
        name = parts.map(\.name).joined(separator: "+")
        placement = .local
        policy = EffectPolicy()
        makeQuery = nil
        effect = { _, _ in .none }
        requestCoding = nil
        group = nil
        priority = nil
        failureEvent = nil
        custom = nil
        schedule = nil
        requestType = nil
        self.parts = parts
    }

    /// A copy that has a mistake. The first mistake counts.
    func mistaken(_ mistake: String) -> Feedback {
        changing { $0.mistake = $0.mistake ?? mistake }
    }

    /// The feedbacks that this one consists of, none of them combined.
    package var flattened: [Feedback] { parts.map { $0.flatMap(\.flattened) } ?? [self] }

    /// The same feedback with a change to each that it consists of.
    func changing(_ change: (inout Feedback) -> Void) -> Feedback {
        if let parts { return Feedback(combining: parts.map { $0.changing(change) }) }
        var copy = self
        change(&copy)
        return copy
    }
}

/// A request's type, to be compared and to be told to people.
package struct RequestType: Equatable, Sendable, CustomStringConvertible {
    private let type: Any.Type

    package init<Request>(_ type: Request.Type) { self.type = type }

    package var description: String { String(describing: type) }

    package static func == (a: RequestType, b: RequestType) -> Bool { a.type == b.type }
}

/// Where a feedback's effects run.
public enum Placement: Hashable, Sendable, CustomStringConvertible {
    /// In the process that owns the state.
    case local
    /// On any worker that serves this group.
    case workers(String)
    /// By the owner of the state itself, without a body: timers.
    case reducer

    /// On the workers of the group "default".
    public static let workers = Placement.workers("default")

    /// A spelling that the compiler corrects to `.workers("gpu")`.
    @available(*, unavailable, renamed: "workers(_:)")
    public static func workers(group: String) -> Placement { .workers(group) }

    /// `local`, `workers(group)` or `reducer`: the text that a definition's fingerprint contains.
    public var description: String {
        switch self {
        case .local: "local"
        case .workers(let group): "workers(\(group))"
        case .reducer: "reducer"
        }
    }
}

/// Encodes and decodes a request whose type is erased.
package struct RequestCoding: Sendable {
    /// The type of the requests.
    package let type: any (Codable & Sendable).Type
    /// Lends a request's bytes, where they were made if the coder can do that.
    package let withEncoding: @Sendable (any Sendable, any ValueCoder, (Span<UInt8>) -> Void) throws -> Void
    /// A request from its bytes, which are lent.
    package let decode: @Sendable (Span<UInt8>, any ValueCoder) throws -> any Sendable

    package init?<Request: Sendable>(_ type: Request.Type) {
        guard let codable = type as? any (Codable & Sendable).Type else { return nil }
        self.init(opening: codable)
    }

    private init<Request: Codable & Sendable>(opening type: Request.Type) {
        self.type = type
        withEncoding = { request, coder, body in
            if try Self.withEncoding(of: request, as: Request.self, coder, body) { return }
            try coder.withEncoding(of: Self.cast(request, to: Request.self), body)
        }
        decode = { bytes, coder in try coder.decode(Request.self, from: bytes) }
    }

    package func decode(_ bytes: [UInt8], _ coder: any ValueCoder) throws -> any Sendable {
        try decode(bytes.span, coder)
    }

    package func encode(_ request: any Sendable, _ coder: any ValueCoder) throws -> [UInt8] {
        var encoded: [UInt8] = []
        try withEncoding(request, coder) { encoded = Array($0) }
        return encoded
    }

    // Apart, because the types that a cast needs are looked up before it is known whether there will be one.
    @inline(never)
    private static func cast<Request>(_ request: any Sendable, to type: Request.Type) -> Request {
        guard let request = request as? Request else {
            preconditionFailure("a \(Swift.type(of: request)) was handed to the coding of \(Request.self)")
        }
        return request
    }

    /// Lends the bytes of a value that is of this very type, without asking the runtime what it could be cast to.
    /// - Returns: false: it is of another type.
    private static func withEncoding<Known: Sendable, Request: Codable & Sendable>(
        of known: Known, as type: Request.Type, _ coder: any ValueCoder, _ body: (Span<UInt8>) -> Void
    ) throws -> Bool {
        try Lent.read(known, as: type) { try coder.withEncoding(of: $0, body) } != nil
    }
}

/// The coder that nodes use for values that cross a process or reach a journal. Deterministic: equal values give equal
/// bytes in every process.
public protocol ValueCoder: Sendable {
    /// Encodes a value into bytes of its own.
    /// - Throws: where the value cannot be encoded, such as a type that throws in `encode(to:)`.
    func encode<Value: Encodable>(_ value: Value) throws -> [UInt8]
    /// Lends the bytes of a value, where they were made if the coder can do that: large values are not copied.
    /// - Throws: where the value cannot be encoded; `body` is then not called.
    func withEncoding<Value: Encodable>(of value: Value, _ body: (Span<UInt8>) -> Void) throws
    /// Decodes a value from all of the bytes.
    /// - Throws: where the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
    /// Decodes a part of a message, where it lies if the coder can do that.
    /// - Throws: where the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value
    /// Decodes bytes that are lent, where they lie if the coder can do that.
    /// - Throws: where the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: Span<UInt8>) throws -> Value
}

extension ValueCoder {
    /// Encodes the value into an array and lends that: for a coder that has no better way.
    /// - Throws: what `encode` throws; `body` is then not called.
    public func withEncoding<Value: Encodable>(of value: Value, _ body: (Span<UInt8>) -> Void) throws {
        let bytes = try encode(value)
        body(bytes.span)
    }

    /// Copies the bytes into an array and decodes that: for a coder that has no better way.
    /// - Throws: where the bytes are not a value of the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value {
        try decode(type, from: Array(bytes))
    }

    /// Copies the bytes into an array and decodes that: for a coder that has no better way.
    /// - Throws: where the bytes are not a value of the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: Span<UInt8>) throws -> Value {
        try decode(type, from: Array(bytes))
    }
}
