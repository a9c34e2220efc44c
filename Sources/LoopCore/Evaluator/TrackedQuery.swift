public import LoopCollections

/// The query of keyed feedbacks whose requests are a `TrackedDictionary`. It equals a `KeyedQuery` of the same entries,
/// effect IDs included, at a cost proportional to what has changed since the last evaluation.
package struct TrackedQuery<State: Sendable, Event: Sendable, Key: Hashable & Sendable, Request: Sendable & Equatable>:
    FeedbackQuery
{
    private let step: TrackedStep<State, Key, Request>
    private var keys = TrackedKeys<Key, Request>()

    init(step: TrackedStep<State, Key, Request>) { self.step = step }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        keys.feedback = feedback
        keys.coder = coder
    }

    package mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        step.advance(state, seq, &keys, &changes)
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) { keys.cancelAll(into: &changes) }

    // MARK: Memory

    package var uncodable: String? {
        keys.order.coding == nil ? "\(Key.self)" : RequestCoding(Request.self) == nil ? "\(Request.self)" : nil
    }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory { try keys.memory(coder) }

    package mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws {
        try keys.restore(memory, asking(state), coder: coder)
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        guard case .keyed(let remembered) = memory.innermost else {
            return Self.cancel(memory.effects, into: &changes)
        }
        Self.cancel(keys.adopt(remembered, coder: coder), into: &changes)
    }

    package mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        keys.followAll(
            asking(state), seq: seq, firstIndex: firstIndex, tellsAll: true, into: &changes)
    }

    private func asking(_ state: borrowing Lent) -> TrackedDictionary<Key, Request> {
        state.read(as: State.self, step.requests)
    }
}

/// The evaluation of one transition by a `TrackedQuery`, created in code that knows the types, so that it is specialised for them.
@usableFromInline
struct TrackedStep<State: Sendable, Key: Hashable & Sendable, Request: Sendable & Equatable>: Sendable {
    @usableFromInline let requests: @Sendable (State) -> TrackedDictionary<Key, Request>
    @usableFromInline
    let advance: @Sendable (borrowing Lent, Seq, inout TrackedKeys<Key, Request>, inout [EffectChange]) -> Void

    @inlinable
    init(_ requests: @escaping @Sendable (State) -> TrackedDictionary<Key, Request>) {
        self.requests = requests
        advance = { state, seq, keys, changes in
            let now = state.read(as: State.self, requests)
            keys.follow(now, seq: seq, into: &changes)
        }
    }

    /// Reads a stored property in its memory, without counting a reference.
    @inlinable
    init(_ requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable) {
        let property = PropertyPlace(requests)
        self.requests = { $0[keyPath: requests] }
        advance = { state, seq, keys, changes in
            state.read(property) { keys.follow($0, seq: seq, into: &changes) }
        }
    }
}
