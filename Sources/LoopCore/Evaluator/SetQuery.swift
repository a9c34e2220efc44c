/// The query of a feedback with one live effect for each element of a set: a `KeyedQuery` whose keys are the requests.
/// An unchanged set costs one comparison.
package struct SetQuery<State: Sendable, Event: Sendable, Request: Hashable & Sendable>: FeedbackQuery {
    private let requests: @Sendable (State) -> Set<Request>
    private var keyed = KeyedQuery<[Request: Request], Event, Request, Request>(requests: { $0 })
    /// What was last asked for; nil: not known.
    private var wanted: Set<Request>? = []

    package init(requests: @escaping @Sendable (State) -> Set<Request>) { self.requests = requests }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        keyed.prepare(feedback: feedback, coder: coder)
    }

    package mutating func advance(at transition: QueryTransition, into changes: inout [EffectChange]) {
        let now = requests(transition.state.assumingMemoryBound(to: State.self).pointee)
        if now == wanted { return }
        wanted = now
        withUnsafePointer(to: Self.keys(now)) { keys in
            keyed.advance(at: QueryTransition(state: keys, event: nil, seq: transition.seq), into: &changes)
        }
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        keyed.cancelAll(into: &changes)
        wanted = []
    }

    // MARK: Memory

    package var uncodable: String? { keyed.uncodable }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory { try keyed.memory(coder) }

    package mutating func restore(_ memory: QueryMemory, state: UnsafeRawPointer, coder: any ValueCoder) throws {
        let now = requests(state.assumingMemoryBound(to: State.self).pointee)
        try withUnsafePointer(to: Self.keys(now)) { try keyed.restore(memory, state: $0, coder: coder) }
        wanted = keyed.isCertain ? now : nil
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        keyed.adopt(memory, coder: coder, into: &changes)
    }

    package mutating func reconcile(
        at transition: QueryTransition, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        let now = requests(transition.state.assumingMemoryBound(to: State.self).pointee)
        wanted = now
        withUnsafePointer(to: Self.keys(now)) { keys in
            keyed.reconcile(
                at: QueryTransition(state: keys, event: nil, seq: transition.seq), firstIndex: firstIndex,
                into: &changes)
        }
    }

    private static func keys(_ requests: Set<Request>) -> [Request: Request] {
        Dictionary(uniqueKeysWithValues: requests.map { ($0, $0) })
    }
}
