internal import LoopCollections

/// A pure query, which derives requests from the state, joined to an effect, which fulfils a request and sends events.
///
/// A feedback's name is the same in every process. Its `placement` says where effects run, its `policy` how they are
/// retried and limited. The request type is erased here; the files `Feedback+….swift` have the forms that make one.
public struct Feedback<State: Sendable, Event: Sendable>: Sendable {
    /// The name by which loops with workers or a journal identify the feedback.
    public internal(set) var name: String
    /// Where the effects run. Workers need `Codable` requests.
    public var placement: Placement
    /// How the effects are retried, limited and bounded in time.
    public var policy: EffectPolicy

    /// Makes a new query machine. Nil for a feedback that derives no requests (`custom`).
    package let makeQuery: (@Sendable () -> any FeedbackQuery<State, Event>)?
    /// Makes the effect that fulfils a request.
    package let effect: @Sendable (any Sendable, EffectContext) -> Effect<Event>
    /// The coding of requests between processes, or nil if the request type is not `Codable`.
    package let requestCoding: RequestCoding?
    /// The group of a request for limits of concurrency and rate, or nil if there are no groups.
    package var group: (@Sendable (any Sendable) -> String)?
    /// The priority of a request, or nil if effects have none.
    package var priority: (@Sendable (any Sendable) -> Int32)?
    /// The event for an effect that has failed for good. Without one the effect is parked.
    package var failureEvent: (@Sendable (any Sendable, EffectFailure) -> Event?)?
    /// A feedback that sees every transition and contributes only what it sends.
    package var custom: CustomFeedback<State, Event>?
    /// The time and the event of a timer, or nil for every other feedback.
    package var timer: FeedbackTimer<Event>?
    /// The runs and the event of a schedule, or nil for every other feedback.
    package let schedule: FeedbackSchedule<Event>?
    /// The type of the requests, which modifiers compare; nil for `custom`. `compacting` has one, and no query.
    package let requestType: RequestType?
    /// The parts of a combined feedback, or nil for every other.
    package let parts: [Feedback]?
    /// A sentence for the author about what is wrong with the feedback, or nil. A loop with such a feedback does not start.
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

    /// Fulfils a request of exactly this type without a dynamic cast, or returns nil if it is of another type.
    private static func fulfil<Known: Sendable, Request: Sendable>(
        _ known: Known, as type: Request.Type, _ context: EffectContext,
        _ effect: (Request, EffectContext) -> Effect<Event>
    ) -> Effect<Event>? {
        Lent.read(known, as: type) { effect($0, context) }
    }

    // A function of its own, because the types that a cast needs would be looked up even if no cast followed.
    @inline(never)
    private static func cast<Request: Sendable>(
        _ request: any Sendable, to type: Request.Type, of name: String
    ) -> Request {
        guard let request = request as? Request else {
            preconditionFailure("feedback \(name) was handed a \(Swift.type(of: request)) for a \(Request.self)")
        }
        return request
    }

    /// This feedback in a loop of other states and events.
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

    /// A copy with this mistake. The first mistake counts.
    func mistaken(_ mistake: String) -> Feedback {
        changing { $0.mistake = $0.mistake ?? mistake }
    }

    /// The feedbacks that this one consists of, none of them combined.
    package var flattened: [Feedback] { parts.map { $0.flatMap(\.flattened) } ?? [self] }

    /// This feedback with a change to each of its parts.
    func changing(_ change: (inout Feedback) -> Void) -> Feedback {
        if let parts { return Feedback(combining: parts.map { $0.changing(change) }) }
        var copy = self
        change(&copy)
        return copy
    }
}

/// A request's type, which can be compared and printed.
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
    /// By the owner of the state itself, without a body: timers and schedules.
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
    /// Lends a request's encoded bytes, without a copy if the coder can.
    package let withEncoding: @Sendable (any Sendable, any ValueCoder, (Span<UInt8>) -> Void) throws -> Void
    /// Decodes a request from lent bytes.
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

    // A function of its own, because the types that a cast needs would be looked up even if no cast followed.
    @inline(never)
    private static func cast<Request>(_ request: any Sendable, to type: Request.Type) -> Request {
        guard let request = request as? Request else {
            preconditionFailure("a \(Swift.type(of: request)) was handed to the coding of \(Request.self)")
        }
        return request
    }

    /// Lends the encoded bytes of a value of exactly this type, without a dynamic cast.
    /// - Returns: false if the value is of another type.
    private static func withEncoding<Known: Sendable, Request: Codable & Sendable>(
        of known: Known, as type: Request.Type, _ coder: any ValueCoder, _ body: (Span<UInt8>) -> Void
    ) throws -> Bool {
        try Lent.read(known, as: type) { try coder.withEncoding(of: $0, body) } != nil
    }
}

/// The coder of values that cross a process or reach a journal. It is deterministic: equal values have equal bytes in every
/// process.
public protocol ValueCoder: Sendable {
    /// Encodes a value into a new array.
    /// - Throws: an error if the value cannot be encoded, such as one that throws in `encode(to:)`.
    func encode<Value: Encodable>(_ value: Value) throws -> [UInt8]
    /// Lends the encoded bytes of a value, without a copy if the coder can.
    /// - Throws: an error if the value cannot be encoded; `body` is then not called.
    func withEncoding<Value: Encodable>(of value: Value, _ body: (Span<UInt8>) -> Void) throws
    /// Decodes a value from all of the bytes.
    /// - Throws: an error if the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
    /// Decodes a part of a message, without a copy if the coder can.
    /// - Throws: an error if the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value
    /// Decodes lent bytes, without a copy if the coder can.
    /// - Throws: an error if the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: Span<UInt8>) throws -> Value
}

extension ValueCoder {
    /// Encodes the value into an array and lends that. A coder may replace it by a better way.
    /// - Throws: what `encode` throws; `body` is then not called.
    public func withEncoding<Value: Encodable>(of value: Value, _ body: (Span<UInt8>) -> Void) throws {
        let bytes = try encode(value)
        body(bytes.span)
    }

    /// Copies the bytes into an array and decodes that. A coder may replace it by a better way.
    /// - Throws: an error if the bytes are not a value of the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value {
        try decode(type, from: Array(bytes))
    }

    /// Copies the bytes into an array and decodes that. A coder may replace it by a better way.
    /// - Throws: an error if the bytes are not a value of the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: Span<UInt8>) throws -> Value {
        try decode(type, from: Array(bytes))
    }
}
