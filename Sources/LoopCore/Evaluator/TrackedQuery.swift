public import LoopCollections

/// The query of keyed feedbacks whose requests are a `TrackedDictionary`: does what a `KeyedQuery` of the same entries
/// does, with the same effect IDs, at a cost in proportion to what has changed since it was last asked.
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

    package mutating func advance(at transition: QueryTransition, into changes: inout [EffectChange]) {
        step.advance(transition, &keys, &changes)
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) { keys.cancelAll(into: &changes) }

    // MARK: Memory

    package var uncodable: String? {
        keys.order.coding == nil ? "\(Key.self)" : RequestCoding(Request.self) == nil ? "\(Request.self)" : nil
    }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory { try keys.memory(coder) }

    package mutating func restore(_ memory: QueryMemory, state: UnsafeRawPointer, coder: any ValueCoder) throws {
        try keys.restore(memory, asking(state), coder: coder)
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        guard case .keyed(let remembered) = memory.innermost else {
            return Self.cancel(memory.effects, into: &changes)
        }
        Self.cancel(keys.adopt(remembered, coder: coder), into: &changes)
    }

    package mutating func reconcile(
        at transition: QueryTransition, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        keys.followAll(
            asking(transition.state), seq: transition.seq, firstIndex: firstIndex, tellsAll: true, into: &changes)
    }

    private func asking(_ state: UnsafeRawPointer) -> TrackedDictionary<Key, Request> {
        step.requests(state.assumingMemoryBound(to: State.self).pointee)
    }
}

/// What a `TrackedQuery` asks at every transition. Made where the types are known, so that it is specialised for them.
@usableFromInline
struct TrackedStep<State: Sendable, Key: Hashable & Sendable, Request: Sendable & Equatable>: Sendable {
    @usableFromInline let requests: @Sendable (State) -> TrackedDictionary<Key, Request>
    @usableFromInline
    let advance: @Sendable (QueryTransition, inout TrackedKeys<Key, Request>, inout [EffectChange]) -> Void

    @inlinable
    init(_ requests: @escaping @Sendable (State) -> TrackedDictionary<Key, Request>) {
        self.requests = requests
        advance = { transition, keys, changes in
            let now = lend(transition.state.assumingMemoryBound(to: State.self)) { requests($0) }
            keys.follow(now, seq: transition.seq, into: &changes)
        }
    }

    /// Where that is a stored property it is asked where it lies, and no reference is counted.
    @inlinable
    init(_ requests: any KeyPath<State, TrackedDictionary<Key, Request>> & Sendable) {
        let offset = MemoryLayout<State>.offset(of: requests)
        self.requests = { $0[keyPath: requests] }
        advance = { transition, keys, changes in
            if let offset {
                let place = transition.state + offset
                lend(place.assumingMemoryBound(to: TrackedDictionary<Key, Request>.self)) { now in
                    keys.follow(now, seq: transition.seq, into: &changes)
                }
            } else {
                let state = transition.state.assumingMemoryBound(to: State.self)
                keys.follow(state.pointee[keyPath: requests], seq: transition.seq, into: &changes)
            }
        }
    }
}
