package import LoopCollections

/// The query of keyed feedbacks and of timers: one live effect for each key.
///
/// An effect whose key has vanished is cancelled, and a new key starts one. A changed value of a kept key is an update of
/// its effect; a changed time of a timer cancels its effect and starts another one. Effect IDs do not depend on the form of
/// the source.
@usableFromInline
package struct KeyedQuery<State: Sendable, Event: Sendable, Key: Hashable & Sendable, Value: Sendable & Equatable>:
    FeedbackQuery
{
    private let source: KeyedSource<State, Key, Value>
    private var keys: KeyedMemory<Key, Value>

    /// - Parameter timer: makes the request of a timer; or nil if the values are themselves the requests.
    @usableFromInline
    init(_ source: KeyedSource<State, Key, Value>, timer: (@Sendable (Key, Value) -> any Sendable)? = nil) {
        self.source = source
        keys = KeyedMemory(timer: timer)
    }

    @inlinable
    package init(requests: @escaping @Sendable (State) -> [Key: Value]) { self.init(KeyedSource(requests)) }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        keys.feedback = feedback
        keys.coder = coder
    }

    package mutating func advance(
        state: borrowing Lent, event: borrowing Lent, seq: Seq, into changes: inout [EffectChange]
    ) {
        source.follow(state, seq, 0, &keys, &changes)
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) { keys.cancelAll(into: &changes) }

    // MARK: Memory

    package var uncodable: String? {
        keys.order.coding == nil ? "\(Key.self)" : RequestCoding(Value.self) == nil ? "\(Value.self)" : nil
    }

    package func memory(_ coder: any ValueCoder) throws -> QueryMemory { .keyed(try keys.remembered(coder)) }

    package mutating func restore(_ memory: QueryMemory, state: borrowing Lent, coder: any ValueCoder) throws {
        guard case .keyed(let remembered) = memory else { throw QueryMemoryError.otherForm }
        keys.live.removeAll()
        keys.mark = nil
        for one in remembered {
            let key = try keys.readKey(one.bytes, coder)
            guard keys.take(key, one.id) else { throw QueryMemoryError("it remembers the key \(key) twice") }
        }
        // If a key starts or vanishes at this state, the query's code has changed. The next transition then reports all of it.
        var now = keys
        var changes: [EffectChange] = []
        source.follow(state, .initial, 0, &now, &changes)
        let areSame = changes.allSatisfy { if case .update = $0 { true } else { false } }
        if areSame { keys = now }
    }

    package mutating func adopt(_ memory: QueryMemory, coder: any ValueCoder, into changes: inout [EffectChange]) {
        guard case .keyed(let remembered) = memory.innermost else {
            return Self.cancel(memory.effects, into: &changes)
        }
        var unreadable: [EffectID] = []
        for one in remembered {
            if let key = try? keys.readKey(one.bytes, coder), keys.take(key, one.id) { continue }
            unreadable.append(one.id)
        }
        keys.mark = nil
        Self.cancel(unreadable, into: &changes)
    }

    package mutating func reconcile(
        state: borrowing Lent, seq: Seq, firstIndex: UInt32, into changes: inout [EffectChange]
    ) {
        keys.forgetValues()
        source.follow(state, seq, firstIndex, &keys, &changes)
    }
}
