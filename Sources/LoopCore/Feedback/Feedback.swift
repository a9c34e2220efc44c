internal import LoopCollections

/// A pure query, which derives requests from the state, joined to an effect, which fulfils a request and sends events.
///
/// A feedback's name is the same in every process. Its `placement` says where effects run, its `policy` how they are
/// retried and limited. The nine forms that make one are in `Feedback+Forms.swift` and its neighbours.
public struct Feedback<State: Sendable, Event: Sendable>: Sendable {
    /// The name by which loops with workers or a journal identify the feedback.
    public internal(set) var name: String
    /// Where the effects run. Workers need `Codable` requests.
    package var placement: Placement
    /// How the effects are retried, limited and bounded in time.
    package var policy: EffectPolicy
    /// What the feedback does.
    package var kind: Kind
    /// A sentence for the author about what is wrong with the feedback, or nil. A loop with such a feedback does not start.
    package private(set) var mistake: String?

    /// What a feedback does.
    package enum Kind: Sendable {
        /// Keeps the effects of a query's requests live.
        case effect(RequestEffect<State, Event>)
        /// Follows every transition and contributes only what it sends.
        case custom(CustomFeedback<State, Event>)
        /// Sends an event for each request of a query when its time has come.
        case timer(FeedbackTimer<State, Event>)
        /// Sends an event at the times of a schedule.
        case schedule(FeedbackSchedule<Event>)
        /// Consists of other feedbacks.
        case combined([Feedback])
    }

    package init(
        name: String, placement: Placement = .local, policy: EffectPolicy = EffectPolicy(), kind: Kind,
        mistake: String? = nil
    ) {
        self.name = name
        self.placement = placement
        self.policy = policy
        self.kind = kind
        self.mistake = mistake
    }

    package init<Request: Sendable>(
        name: String, placement: Placement = .local, policy: EffectPolicy = EffectPolicy(),
        query: @escaping @Sendable () -> any FeedbackQuery<State, Event>,
        effect: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) {
        let effect = RequestEffect(query: query, of: name, body: effect)
        self.init(name: name, placement: placement, policy: policy, kind: .effect(effect))
    }
}

/// The query and the effect of a feedback, with the request's type erased.
package struct RequestEffect<State: Sendable, Event: Sendable>: Sendable {
    /// Makes a new query machine.
    package let query: @Sendable () -> any FeedbackQuery<State, Event>
    /// Makes the effect that fulfils a request.
    package let body: @Sendable (any Sendable, EffectContext) -> Effect<Event>
    /// The type of the requests, which modifiers compare.
    let type: RequestType
    /// The coding of requests between processes, or nil if the request type is not `Codable`.
    let coding: RequestCoding?
    /// The group of a request for limits of concurrency and rate, or nil if there are no groups.
    var group: (@Sendable (any Sendable) -> String)?
    /// The priority of a request, or nil if effects have none.
    var priority: (@Sendable (any Sendable) -> Int32)?
    /// The event for an effect that has failed for good. Without one the effect is parked.
    var failureEvent: (@Sendable (any Sendable, EffectFailure) -> Event?)?

    init<Request: Sendable>(
        query: @escaping @Sendable () -> any FeedbackQuery<State, Event>, of name: String,
        body: @escaping @Sendable (Request, EffectContext) -> Effect<Event>
    ) {
        self.query = query
        self.body = { request, context in
            if let made = Self.fulfil(request, as: Request.self, context, body) { return made }
            return body(Self.cast(request, to: Request.self, of: name), context)
        }
        type = RequestType(Request.self)
        coding = RequestCoding(Request.self)
    }

    /// The effect of `base` with another query and another body, in a loop of other states and events.
    package init<LocalState, LocalEvent>(
        _ base: RequestEffect<LocalState, LocalEvent>, query: @escaping @Sendable () -> any FeedbackQuery<State, Event>,
        body: @escaping @Sendable (any Sendable, EffectContext) -> Effect<Event>,
        failureEvent: (@Sendable (any Sendable, EffectFailure) -> Event?)?
    ) {
        self.query = query
        self.body = body
        type = base.type
        coding = base.coding
        group = base.group
        priority = base.priority
        self.failureEvent = failureEvent
    }

    /// This effect in a loop whose state has this one as a part, at times or always.
    func pullback<Whole: Sendable, WholeEvent: Sendable>(
        value: @escaping @Sendable (Whole) -> State?, embedEvent: @escaping @Sendable (Event) -> WholeEvent,
        extractEvent: @escaping @Sendable (WholeEvent) -> Event?
    ) -> RequestEffect<Whole, WholeEvent> {
        var failure: (@Sendable (any Sendable, EffectFailure) -> WholeEvent?)?
        if let failureEvent { failure = { failureEvent($0, $1).map(embedEvent) } }
        return RequestEffect<Whole, WholeEvent>(
            self, query: { [query] in LocalQuery(makeBase: query, value: value, extractEvent: extractEvent) },
            body: { [body] request, context in body(request, context).map(embedEvent) }, failureEvent: failure)
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
}

// What loops need of a feedback, whatever its kind.
extension Feedback {
    /// Makes a new query machine, or nil if the feedback derives no requests.
    package var makeQuery: (@Sendable () -> any FeedbackQuery<State, Event>)? {
        switch kind {
        case .effect(let effect): effect.query
        case .timer(let timer): timer.query
        case .custom, .schedule, .combined: nil
        }
    }

    /// The coding of requests between processes, or nil if there are none or their type is not `Codable`.
    package var requestCoding: RequestCoding? {
        switch kind {
        case .effect(let effect): effect.coding
        case .timer(let timer): timer.coding
        case .custom, .schedule, .combined: nil
        }
    }

    /// The effect that fulfils a request. Timers and feedbacks without requests have none.
    package func effect(_ request: any Sendable, _ context: EffectContext) -> Effect<Event> {
        guard case .effect(let effect) = kind else { return .none }
        return effect.body(request, context)
    }

    /// The group of a request for limits of concurrency and rate, or nil if there are no groups.
    package var group: (@Sendable (any Sendable) -> String)? {
        if case .effect(let effect) = kind { effect.group } else { nil }
    }

    /// The priority of a request, or nil if effects have none.
    package var priority: (@Sendable (any Sendable) -> Int32)? {
        if case .effect(let effect) = kind { effect.priority } else { nil }
    }

    /// The event for an effect that has failed for good. Without one the effect is parked.
    package var failureEvent: (@Sendable (any Sendable, EffectFailure) -> Event?)? {
        if case .effect(let effect) = kind { effect.failureEvent } else { nil }
    }

    /// The body that follows the transitions, or nil for a feedback of another kind.
    package var custom: CustomFeedback<State, Event>? {
        if case .custom(let custom) = kind { custom } else { nil }
    }

    /// The time and the event of a timer, or nil for a feedback of another kind.
    package var timer: FeedbackTimer<State, Event>? {
        if case .timer(let timer) = kind { timer } else { nil }
    }

    /// The runs and the event of a schedule, or nil for a feedback of another kind.
    package var schedule: FeedbackSchedule<Event>? {
        if case .schedule(let schedule) = kind { schedule } else { nil }
    }
}

extension Feedback {
    /// A copy with this mistake. The first mistake counts.
    func mistaken(_ mistake: String) -> Feedback {
        changing { $0.mistake = $0.mistake ?? mistake }
    }

    /// The feedbacks that this one consists of, none of them combined.
    package var flattened: [Feedback] {
        if case .combined(let parts) = kind { parts.flatMap(\.flattened) } else { [self] }
    }

    /// This feedback with a change to each of its parts.
    func changing(_ change: (inout Feedback) -> Void) -> Feedback {
        if case .combined(let parts) = kind { return .combined(parts.map { $0.changing(change) }) }
        var copy = self
        change(&copy)
        return copy
    }

    static func combined(_ parts: [Feedback]) -> Feedback {
        Feedback(name: parts.map(\.name).joined(separator: "+"), kind: .combined(parts))
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
    case workers(group: String)
    /// By the owner of the state itself, without a body: timers and schedules.
    case reducer

    /// On the workers of the group "default".
    public static let workers = Placement.workers(group: "default")

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
