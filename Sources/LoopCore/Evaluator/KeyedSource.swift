public import LoopCollections

/// Where a keyed query finds its keys and their values in the state: a dictionary, a set, a tracked dictionary or a single value.
@usableFromInline
package struct KeyedSource<State: Sendable, Key: Hashable & Sendable, Value: Sendable & Equatable>: Sendable {
    @usableFromInline typealias Keys = KeyedMemory<Key, Value>

    /// Looks at the keys that may have changed since the last mark, or at all without a mark. Marks the state, and reports the
    /// changes. It is created in code that knows the types, so that it is specialised for them.
    @usableFromInline
    let follow: @Sendable (borrowing Lent, Seq, _ firstIndex: UInt32, inout Keys, inout [EffectChange]) -> Void

    /// A dictionary. An event that changes it costs a comparison of all entries.
    @inlinable
    init(_ values: @escaping @Sendable (State) -> [Key: Value]) {
        follow = { state, seq, firstIndex, keys, changes in
            let now = state.read(as: State.self, values)
            if case .dictionary(let old)? = keys.mark {
                // Dictionaries that share their memory are equal without a comparison of their contents.
                if old == now { return }
                for key in old.keys where now[key] == nil { keys.look(key, nil) }
                for (key, value) in now where old[key] != value { keys.look(key, value) }
            } else {
                for key in keys.liveKeys where now[key] == nil { keys.look(key, nil) }
                for (key, value) in now { keys.look(key, value) }
            }
            keys.mark = .dictionary(now)
            keys.report(seq: seq, firstIndex: firstIndex, into: &changes)
        }
    }

    /// A set, whose elements are their own values.
    init(_ elements: @escaping @Sendable (State) -> Set<Key>) where Value == Key {
        follow = { state, seq, firstIndex, keys, changes in
            let now = state.read(as: State.self, elements)
            if case .set(let old)? = keys.mark {
                if old == now { return }
                for key in old where !now.contains(key) { keys.look(key, nil) }
                for key in now where !old.contains(key) { keys.look(key, key) }
            } else {
                for key in keys.liveKeys where !now.contains(key) { keys.look(key, nil) }
                for key in now { keys.look(key, key) }
            }
            keys.mark = .set(now)
            keys.report(seq: seq, firstIndex: firstIndex, into: &changes)
        }
    }

    /// The values that a closure makes of the entries of a stored tracked dictionary, at a cost proportional to the entries that
    /// have changed. The dictionary is read in its memory, without counting a reference.
    @inlinable
    @inline(__always)
    init<Entry: Sendable>(
        _ entries: any KeyPath<State, TrackedDictionary<Key, Entry>> & Sendable,
        _ value: @escaping @Sendable (Key, Entry) -> Value?
    ) {
        let property = PropertyPlace(entries)
        follow = { state, seq, firstIndex, keys, changes in
            state.read(property) { keys.follow($0, value, seq: seq, firstIndex: firstIndex, into: &changes) }
        }
    }

    /// The values of the entries of a tracked dictionary that a closure returns.
    init<Entry: Sendable>(
        of entries: @escaping @Sendable (State) -> TrackedDictionary<Key, Entry>,
        _ value: @escaping @Sendable (Entry) -> Value?
    ) {
        follow = { state, seq, firstIndex, keys, changes in
            let now = state.read(as: State.self, entries)
            keys.follow(now, { value($1) }, seq: seq, firstIndex: firstIndex, into: &changes)
        }
    }

    /// A single value, or nil for none.
    init(sole value: @escaping @Sendable (State) -> Value?) where Key == SoleKey {
        follow = { state, seq, firstIndex, keys, changes in
            let now = state.read(as: State.self, value)
            if case .sole(let old)? = keys.mark, old == now { return }
            keys.look(SoleKey(), now)
            keys.mark = .sole(now)
            keys.report(seq: seq, firstIndex: firstIndex, into: &changes)
        }
    }
}

/// The key of a source with a single value.
struct SoleKey: Hashable, Codable, Sendable {
    init() {}

    init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer().decode(Bool.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(true)
    }
}
