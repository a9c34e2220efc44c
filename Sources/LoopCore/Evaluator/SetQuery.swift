package import LoopCollections

/// The query of a feedback with one live effect for each element of a set: a `KeyedQuery` whose keys are the requests.
/// An unchanged set costs one comparison.
package struct SetQuery<State: Sendable, Event: Sendable, Request: Hashable & Sendable>: FeedbackQuery {
    private let requests: @Sendable (State) -> Set<Request>
    private var keyed = KeyedQuery<[Request: Request], Event, Request, Request>(requests: { $0 })
    /// The last requests, or nil if they are unknown.
    private var wanted: Set<Request>? = []

    package init(requests: @escaping @Sendable (State) -> Set<Request>) { self.requests = requests }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        keyed.prepare(feedback: feedback, coder: coder)
    }

    package mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        let now = state.read(as: State.self, requests)
        if now == wanted { return }
        wanted = now
        lend(Self.keys(now)) { keyed.advance(state: $0, event: Lent(), seq: seq, into: &changes) }
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        keyed.cancelAll(into: &changes)
        wanted = []
    }

    // MARK: Memory

    package var uncodable: String? { keyed.uncodable }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory { try keyed.memory(coder) }

    package mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws {
        let now = state.read(as: State.self, requests)
        try lend(Self.keys(now)) { try keyed.restore(memory, state: $0, coder: coder) }
        wanted = keyed.isCertain ? now : nil
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        keyed.adopt(memory, coder: coder, into: &changes)
    }

    package mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        let now = state.read(as: State.self, requests)
        wanted = now
        lend(Self.keys(now)) { keyed.reconcile(state: $0, seq: seq, firstIndex: firstIndex, into: &changes) }
    }

    private static func keys(_ requests: Set<Request>) -> [Request: Request] {
        Dictionary(uniqueKeysWithValues: requests.map { ($0, $0) })
    }
}
