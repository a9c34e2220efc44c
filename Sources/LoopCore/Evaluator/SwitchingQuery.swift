public import LoopCollections

/// The query of every feedback with at most one live effect: the old effect is cancelled before the new one starts.
///
///     derive ──▶ unchanged                         nothing happens
///            ──▶ nothing                           cancel, forget
///            ──▶ wanted(request) ── renewal says   untouched, or cancel and start
@usableFromInline
package struct SwitchingQuery<State: Sendable, Event: Sendable, Request: Sendable>: FeedbackQuery {
    /// The result of a query after a transition.
    @usableFromInline
    package enum Desire {
        case unchanged
        case nothing
        case wanted(Request)

        /// The wish for a request, or for nothing.
        @inlinable
        package init(_ request: Request?) { self = request.map { .wanted($0) } ?? .nothing }
    }

    /// Whether a request replaces the one before it.
    @usableFromInline
    package enum Renewal: Sendable {
        /// Only a different request does (`react(request:)`).
        case whenDifferent(@Sendable (Request, Request) -> Bool)
        /// Every request does (`extracting`, `lensing`).
        case always
        /// None does, until the query has requested nothing (`whenBecomesTrue`, `source`).
        case never

        /// Whether a transition that requests `new` ends the effect that was started for `old`.
        @inlinable
        func replaces(_ old: Request, by new: Request) -> Bool {
            switch self {
            case .whenDifferent(let isSame): !isSame(old, new)
            case .always: true
            case .never: false
            }
        }
    }

    /// The evaluation of one transition, created in code that knows the types, so that it is specialised for them.
    @usableFromInline
    typealias Step =
        @Sendable (
            borrowing Lent, borrowing Lent, Seq, inout SwitchingMemory<Request>, inout [EffectChange]
        ) -> Void

    private let derive: @Sendable (State, Event?) -> Desire
    private let renewal: Renewal
    private let step: Step
    private var memory = SwitchingMemory<Request>()

    @inlinable
    package init(renewal: Renewal, derive: @escaping @Sendable (State, Event?) -> Desire) {
        self.init(renewal: renewal, derive: derive, step: Self.step(renewal, derive))
    }

    @inlinable
    static func step(_ renewal: Renewal, _ derive: @escaping @Sendable (State, Event?) -> Desire) -> Step {
        { state, event, seq, memory, changes in
            let event = event.isEmpty ? nil : event.read(as: Event.self) { $0 }
            switch state.read(as: State.self, { derive($0, event) }) {
            case .unchanged: return
            case .nothing: memory.cancelAll(into: &changes)
            case .wanted(let request):
                if let current = memory.request, !renewal.replaces(current, by: request) { return }
                memory.start(request, seq, index: 0, into: &changes)
            }
        }
    }

    @usableFromInline
    init(renewal: Renewal, derive: @escaping @Sendable (State, Event?) -> Desire, step: @escaping Step) {
        self.renewal = renewal
        self.derive = derive
        self.step = step
    }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) { memory.feedback = feedback }

    package mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        step(state, event, seq, &memory, &changes)
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) { memory.cancelAll(into: &changes) }

    // MARK: Memory

    package var uncodable: String? { RequestCoding(Request.self) == nil ? "\(Request.self)" : nil }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory {
        guard let request = memory.request else { return .single(nil) }
        guard let coding = RequestCoding(Request.self) else {
            throw QueryMemoryError.notCodable(Request.self, "requests")
        }
        return .single(QueryMemory.Remembered(bytes: try coding.encode(request, coder), id: memory.id))
    }

    package mutating func restore(_ remembered: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws {
        guard case .single(let remembered) = remembered else { throw QueryMemoryError.otherForm }
        memory.request = nil
        guard let remembered else { return }
        memory.request = try Self.read(remembered.bytes, coder)
        memory.id = remembered.id
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        if case .single(let remembered?) = memory.innermost, let request = try? Self.read(remembered.bytes, coder) {
            self.memory.request = request
            self.memory.id = remembered.id
        } else {
            Self.cancel(memory.effects, into: &changes)
        }
    }

    package mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        switch state.read(as: State.self, { derive($0, nil) }) {
        case .unchanged: return
        case .nothing: memory.cancelAll(into: &changes)
        case .wanted(let request):
            // The state has not changed, so an effect for it is not renewed merely because `renewal` is `always`.
            if let current = memory.request {
                guard case .whenDifferent = renewal, renewal.replaces(current, by: request) else { return }
            }
            memory.start(request, seq, index: firstIndex, into: &changes)
        }
    }

    private static func read(_ bytes: [UInt8], _ coder: any ValueCoder) throws -> Request {
        guard let coding = RequestCoding(Request.self) else {
            throw QueryMemoryError.notCodable(Request.self, "requests")
        }
        guard let request = try coding.decode(bytes, coder) as? Request else { throw QueryMemoryError.otherForm }
        return request
    }
}

/// The last request that started an effect, and that effect, whether or not it has completed.
@usableFromInline
struct SwitchingMemory<Request: Sendable>: Sendable {
    @usableFromInline var feedback: UInt32 = 0
    /// The effect of `request`; stale if there is no request.
    @usableFromInline var id = EffectID(feedback: 0, seq: .initial, index: 0)
    @usableFromInline var request: Request?

    init() {}

    /// Starts an effect in place of the previous one.
    @inlinable
    mutating func start(_ request: Request, _ seq: Seq, index: UInt32, into changes: inout [EffectChange]) {
        if self.request != nil { changes.append(.cancel(id)) }
        id = EffectID(feedback: feedback, seq: seq, index: index)
        self.request = request
        changes.append(.start(id, request: request))
    }

    @inlinable
    mutating func cancelAll(into changes: inout [EffectChange]) {
        if request != nil { changes.append(.cancel(id)) }
        request = nil
    }
}
