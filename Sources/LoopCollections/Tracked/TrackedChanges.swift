// Unsafe: both dictionaries are retained during the walk.

/// The changes that turn an earlier `TrackedDictionary` into a later one. They are keys to remove, values to replace at their
/// position, and entries to append in order. A key that was removed and inserted again is in both lists.
@usableFromInline package struct TrackedChanges<Key: Hashable, Value> {
    /// A key and its value in the later dictionary.
    @usableFromInline package typealias Entry = (key: Key, value: Value)

    /// The keys to remove, in the order of the earlier dictionary.
    @usableFromInline package var removed: [Key] = []
    /// The keys with a new value at their old position, in the order of the dictionary.
    @usableFromInline package var updated: [Entry] = []
    /// The entries to append after all others, in this order.
    @usableFromInline package var inserted: [Entry] = []

    /// Creates an empty list of changes.
    @inlinable
    package init() {}

    /// Whether the two dictionaries are equal.
    @inlinable package var isEmpty: Bool { removed.isEmpty && updated.isEmpty && inserted.isEmpty }

    /// The number of keys in the changes. A key that was removed and inserted again counts twice.
    @inlinable package var count: Int { removed.count + updated.count + inserted.count }

    /// Turns the earlier dictionary into the later one. Keys to remove that do not exist are ignored.
    @inlinable
    package func apply(to dictionary: inout TrackedDictionary<Key, Value>) {
        for key in removed { dictionary.removeValue(forKey: key) }
        for (key, value) in updated { dictionary.updateValue(value, forKey: key) }
        for (key, value) in inserted { dictionary.updateValue(value, forKey: key) }
    }
}

extension TrackedChanges: Sendable where Key: Sendable, Value: Sendable {}

extension TrackedDictionary {
    /// The changes that turn an earlier copy of this dictionary into this one.
    ///
    /// It visits the nodes that the two do not share, which is in proportion to the changes between them. If the two have no common
    /// past, or if `old` is the later one, it visits all entries.
    /// - Parameters:
    ///   - old: the earlier copy.
    ///   - isSame: whether two values are equal, so that the entry has not changed.
    @inlinable
    package func changes(
        since old: TrackedDictionary, by isSame: (Value, Value) -> Bool
    ) -> TrackedChanges<Key, Value> {
        var changes = TrackedChanges<Key, Value>()
        let isComplete = order.walk(from: old.order) { step in
            switch step {
            case .shared:
                return changes.inserted.isEmpty
            case .old(let entry):
                unsafe changes.removed.append(entry.pointee.key)
            case .new(let entry):
                unsafe changes.inserted.append((entry.pointee.key, entry.pointee.value))
            case .both(let before, let after) where unsafe before.pointee.key == after.pointee.key:
                if !changes.inserted.isEmpty { return false }
                if unsafe isSame(before.pointee.value, after.pointee.value) { return true }
                unsafe changes.updated.append((after.pointee.key, after.pointee.value))
            case .both:
                // An ordinal belongs to one key, unless the two have diverged.
                return false
            }
            return true
        }
        // Entries after an inserted one must have been inserted too. Otherwise the entries are compared one by one.
        return isComplete ? changes : changesOfAll(since: old, by: isSame)
    }

    @usableFromInline
    func changesOfAll(
        since old: TrackedDictionary, by isSame: (Value, Value) -> Bool
    ) -> TrackedChanges<Key, Value> {
        var changes = TrackedChanges<Key, Value>()
        var later = makeIterator()
        var next = later.next()
        var isKeeping = true
        for (key, value) in old {
            guard isKeeping, contains(key) else {
                changes.removed.append(key)
                continue
            }
            guard let candidate = next, candidate.key == key else {
                isKeeping = false
                changes.removed.append(key)
                continue
            }
            if !isSame(value, candidate.value) { changes.updated.append(candidate) }
            next = later.next()
        }
        while let entry = next {
            changes.inserted.append(entry)
            next = later.next()
        }
        return changes
    }
}

extension TrackedDictionary where Value: Equatable {
    /// The changes that turn an earlier copy of this dictionary into this one; see ``changes(since:by:)``.
    @inlinable
    package func changes(since old: TrackedDictionary) -> TrackedChanges<Key, Value> { changes(since: old, by: ==) }
}
