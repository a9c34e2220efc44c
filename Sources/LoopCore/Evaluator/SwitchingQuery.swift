/// The query of every feedback with at most one live effect: the old effect is cancelled before the new one starts.
///
///     derive ──▶ unchanged                         nothing happens
///            ──▶ nothing                           cancel, forget
///            ──▶ wanted(request) ── renewal says   untouched, or cancel and start
package struct SwitchingQuery<State: Sendable, Event: Sendable, Request: Sendable>: FeedbackQuery {
    /// What a query wants after a transition.
    package enum Desire {
        case unchanged
        case nothing
        case wanted(Request)
    }

    /// Whether a request replaces the one before it.
    package enum Renewal: Sendable {
        /// Only a different request does (`skippingRepeated`).
        case whenDifferent(@Sendable (Request, Request) -> Bool)
        /// Every request does (`lensing`, `middleware`).
        case always
        /// None does, until the query has wanted nothing (`firstValueAfterNil`, `whenBecomesTrue`).
        case never
    }

    private let derive: @Sendable (State, Event?) -> Desire
    private let renewal: Renewal
    private var feedback: UInt32 = 0
    /// The last request that started an effect, and that effect, whether or not it has completed.
    private var current: (request: Request, id: EffectID)?

    package init(renewal: Renewal, derive: @escaping @Sendable (State, Event?) -> Desire) {
        self.renewal = renewal
        self.derive = derive
    }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) { self.feedback = feedback }

    package mutating func advance(state: State, event: Event?, seq: Seq, into changes: inout [EffectChange]) {
        follow(derive(state, event), seq: seq, index: 0, isTransition: true, into: &changes)
    }

    /// - Parameter isTransition: if not, the state is the same, and an effect for it is not renewed for its own sake.
    private mutating func follow(
        _ desire: Desire, seq: Seq, index: UInt32, isTransition: Bool, into changes: inout [EffectChange]
    ) {
        switch desire {
        case .unchanged:
            return
        case .nothing:
            cancelAll(into: &changes)
        case .wanted(let request):
            if let current {
                switch renewal {
                case .whenDifferent(let isSame) where isSame(current.request, request): return
                case .never: return
                case .always where !isTransition: return
                case .whenDifferent, .always: changes.append(.cancel(current.id))
                }
            }
            let id = EffectID(feedback: feedback, seq: seq, index: index)
            current = (request, id)
            changes.append(.start(id, request: request))
        }
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        if let current { changes.append(.cancel(current.id)) }
        current = nil
    }

    // MARK: Memory

    package var uncodable: String? { RequestCoding(Request.self) == nil ? "\(Request.self)" : nil }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory {
        guard let current else { return .single(nil) }
        guard let coding = RequestCoding(Request.self) else {
            throw QueryMemoryError.notCodable(Request.self, "requests")
        }
        return .single(QueryMemory.Remembered(bytes: try coding.encode(current.request, coder), id: current.id))
    }

    package mutating func restore(_ memory: QueryMemory, state: State, coder: any ValueCoder) throws {
        guard case .single(let remembered) = memory else { throw QueryMemoryError.otherForm }
        current = try remembered.map { (try Self.read($0.bytes, coder), $0.id) }
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        if case .single(let remembered?) = memory.innermost, let request = try? Self.read(remembered.bytes, coder) {
            current = (request, remembered.id)
        } else {
            Self.cancel(memory.effects, into: &changes)
        }
    }

    package mutating func reconcile(
        state: State, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        follow(derive(state, nil), seq: seq, index: firstIndex, isTransition: false, into: &changes)
    }

    private static func read(_ bytes: [UInt8], _ coder: any ValueCoder) throws -> Request {
        guard let coding = RequestCoding(Request.self) else {
            throw QueryMemoryError.notCodable(Request.self, "requests")
        }
        guard let request = try coding.decode(bytes, coder) as? Request else { throw QueryMemoryError.otherForm }
        return request
    }
}
