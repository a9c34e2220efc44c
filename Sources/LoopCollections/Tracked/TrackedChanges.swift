// Unsafe: both dictionaries are held while they are walked.

/// What makes a `TrackedDictionary` of an earlier one: these keys removed, these given a new value in their place, and
/// these put behind all others, in this order. A key that was removed and came back is both removed and inserted.
public struct TrackedChanges<Key: Hashable, Value> {
    public typealias Entry = (key: Key, value: Value)

    /// In the order in which they stood.
    public var removed: [Key] = []
    /// In the order in which they stand.
    public var updated: [Entry] = []
    /// In the order in which they stand, behind all others.
    public var inserted: [Entry] = []

    @inlinable
    public init() {}

    /// Whether there are none.
    @inlinable public var isEmpty: Bool { removed.isEmpty && updated.isEmpty && inserted.isEmpty }

    /// How many there are.
    @inlinable public var count: Int { removed.count + updated.count + inserted.count }

    /// Makes the changes. Keys that are to be removed and are not there are passed over.
    @inlinable
    public func apply(to dictionary: inout TrackedDictionary<Key, Value>) {
        for key in removed { dictionary.removeValue(forKey: key) }
        for (key, value) in updated { dictionary.updateValue(value, forKey: key) }
        for (key, value) in inserted { dictionary.updateValue(value, forKey: key) }
    }
}

extension TrackedChanges: Sendable where Key: Sendable, Value: Sendable {}

extension TrackedDictionary {
    /// What has changed since an earlier copy of this dictionary.
    ///
    /// Visits the nodes that the two do not share, which is in proportion to the changes between them. For dictionaries
    /// that have no common past, or the later of which is the older one, it looks at all entries.
    /// - Parameter isSame: whether two values are the same, so that going from one to the other is no change.
    @inlinable
    public func changes(
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
                // An ordinal names one key, unless the two have gone different ways.
                return false
            }
            return true
        }
        // What stands behind an inserted entry must have been inserted too, else the entries are compared one by one.
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
    /// What has changed since an earlier copy of this dictionary; see ``changes(since:by:)``.
    @inlinable
    public func changes(since old: TrackedDictionary) -> TrackedChanges<Key, Value> { changes(since: old, by: ==) }
}
