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
        try step.restore(state, memory, coder, &keys)
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
        step.reconcile(state, seq, firstIndex, &keys, &changes)
    }
}

/// The evaluations of a `TrackedQuery`, created in code that knows the types, so that they are specialised for them.
@usableFromInline
struct TrackedStep<State: Sendable, Key: Hashable & Sendable, Request: Sendable & Equatable>: Sendable {
    @usableFromInline typealias Keys = TrackedKeys<Key, Request>

    @usableFromInline let advance: @Sendable (borrowing Lent, Seq, inout Keys, inout [EffectChange]) -> Void
    @usableFromInline
    let reconcile: @Sendable (borrowing Lent, Seq, UInt32, inout Keys, inout [EffectChange]) -> Void
    @usableFromInline
    let restore: @Sendable (borrowing Lent, QueryMemory, any ValueCoder, inout Keys) throws -> Void

    /// The evaluations of requests that are themselves the entries of a dictionary.
    @inlinable
    init(_ requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable) {
        self.init(requests) { $1 }
    }

    /// The evaluations of the requests that a closure makes of the entries of a dictionary. A stored dictionary is read in its
    /// memory, without counting a reference.
    @inlinable
    @inline(__always)
    init<Entry: Sendable>(
        _ entries: any KeyPath<State, TrackedDictionary<Key, Entry>> & Sendable,
        _ request: @escaping @Sendable (Key, Entry) -> Request?
    ) {
        let property = PropertyPlace(entries)
        advance = { state, seq, keys, changes in
            state.read(property) { keys.follow($0, request, seq: seq, into: &changes) }
        }
        reconcile = { state, seq, firstIndex, keys, changes in
            state.read(property) {
                keys.followAll($0, request, seq: seq, firstIndex: firstIndex, tellsAll: true, into: &changes)
            }
        }
        restore = { state, memory, coder, keys in
            try state.read(property) { try keys.restore(memory, $0, request, coder: coder) }
        }
    }
}
