// Unsafe: an entry is changed only in a leaf with no other owner, and is found by an ordinal of this dictionary.

/// A dictionary for large states: in order of insertion, cheap to copy, and cheap to compare with an earlier copy.
///
/// It is a value like `Dictionary`, and differs in three ways:
/// - It iterates in the order in which its keys were inserted, which is the same in every process. A removal keeps the order of the
///   others, and an update keeps the entry's position. A key that was removed and is inserted again comes last.
/// - A copy shares its structure. A change copies only a few small nodes that other copies also own. So a snapshot of a million
///   entries that another thread encodes does not make the next event slow.
/// - A query that has seen an earlier copy visits only the changes since then.
///
/// A look-up or a change takes about twice as long as in `Dictionary`. Without other copies, values are changed in place. Equality
/// includes the order, because equal states must have equal bytes.
public struct TrackedDictionary<Key: Hashable, Value> {
    @usableFromInline var index = KeyIndex()
    @usableFromInline var order: OrderTree<Key, Value>
    /// Nil if the dictionary never had an entry.
    @usableFromInline var log: TouchLog<Key>?

    /// Creates an empty dictionary.
    @inlinable
    public init() { order = OrderTree() }

    /// Creates an empty dictionary whose ordinals start at `ordinal`, as if that many entries had been inserted and removed.
    package init(firstOrdinal ordinal: Int) { order = OrderTree(next: ordinal) }

    /// Creates a dictionary of a sequence's entries, in its order. If a key occurs several times, its last value counts, at its
    /// first position.
    @inlinable
    public init(_ entries: some Sequence<(Key, Value)>) {
        self.init()
        for (key, value) in entries { updateValue(value, forKey: key) }
    }

    // MARK: Reading

    /// The number of entries.
    @inlinable public var count: Int { order.count }

    /// Whether the dictionary has a key.
    @inlinable
    public func contains(_ key: Key) -> Bool { find(key, IndexWord.hash(key)) != nil }

    @inlinable
    func find(_ key: Key, _ hash: UInt64) -> Int? { index.find(hash) { unsafe order.entry(at: $0).pointee.key == key } }

    /// The value of a key, or nil if the dictionary does not have the key. Setting nil removes the key.
    @inlinable
    public subscript(key: Key) -> Value? {
        get {
            guard let ordinal = find(key, IndexWord.hash(key)) else { return nil }
            return unsafe order.entry(at: ordinal).pointee.value
        }
        set {
            if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
        }
        _modify {
            let hash = IndexWord.hash(key)
            guard let ordinal = find(key, hash) else {
                var value: Value?
                defer { if let value { insert(key, value, hash) } }
                yield &value
                return
            }
            touch(key, hash, ordinal)
            // The value is moved out and back, so that it has no other owner meanwhile.
            let entry = unsafe order.uniqueEntry(at: ordinal)
            let place = unsafe withUnsafeMutablePointer(to: &entry.pointee.value) { unsafe $0 }
            var value: Value? = unsafe place.move()
            defer {
                if let value = value.take() {
                    unsafe place.initialize(to: value)
                } else {
                    _ = unsafe withUnsafeMutablePointer(to: &entry.pointee.key) { unsafe $0.move() }
                    order.close(ordinal)
                    index.remove(hash, ordinal: ordinal)
                    noteRemoval()
                }
            }
            yield &value
        }
    }

    /// The value of a key, or the default if the dictionary does not have the key. A change of the default inserts it.
    @inlinable
    public subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        get { self[key] ?? value() }
        _modify {
            let hash = IndexWord.hash(key)
            let known = find(key, hash)
            if let known { touch(key, hash, known) }
            let ordinal = known ?? insert(key, value(), hash)
            yield unsafe &order.uniqueEntry(at: ordinal).pointee.value
        }
    }

    // MARK: Changing

    /// Sets the value of a key. An existing key keeps its position, and a new one comes last.
    /// - Returns: the earlier value, or nil.
    @inlinable @discardableResult
    public mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
        let hash = IndexWord.hash(key)
        guard let ordinal = find(key, hash) else {
            insert(key, value, hash)
            return nil
        }
        touch(key, hash, ordinal)
        let entry = unsafe order.uniqueEntry(at: ordinal)
        let old = unsafe entry.pointee.value
        unsafe entry.pointee.value = value
        return old
    }

    /// Removes a key. The others keep their order.
    /// - Returns: the earlier value, or nil.
    @inlinable @discardableResult
    public mutating func removeValue(forKey key: Key) -> Value? {
        let hash = IndexWord.hash(key)
        guard let ordinal = find(key, hash) else { return nil }
        return remove(at: ordinal, hash).value
    }

    /// Removes all entries.
    @inlinable
    public mutating func removeAll() { self = TrackedDictionary() }

    /// Removes the entries for which the predicate holds.
    /// - Throws: what the predicate throws. The dictionary is unchanged then.
    @inlinable
    public mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        var ordinals: [Int] = []
        for place in indices where try isRemoved(self[place]) { ordinals.append(place.ordinal) }
        for ordinal in ordinals { unsafe remove(at: ordinal, IndexWord.hash(order.entry(at: ordinal).pointee.key)) }
    }

    @inlinable @discardableResult
    mutating func insert(_ key: Key, _ value: Value, _ hash: UInt64) -> Int {
        if order.next >= IndexWord.ordinalLimit { renumber() }
        touch(key, hash, order.next)
        let ordinal = order.append(OrderEntry(key: key, value: value))
        index.insert(hash, ordinal: ordinal)
        return ordinal
    }

    @inlinable @discardableResult
    mutating func remove(at ordinal: Int, _ hash: UInt64) -> OrderEntry<Key, Value> {
        index.remove(hash, ordinal: ordinal)
        let entry = order.remove(at: ordinal)
        touch(entry.key, hash, ordinal)
        noteRemoval()
        return entry
    }

    /// Starts to count ordinals from zero again, after a trillion insertions.
    @usableFromInline
    mutating func renumber() {
        var copy = TrackedDictionary()
        for (key, value) in self { copy.insert(key, value, IndexWord.hash(key)) }
        self = copy
    }
}

// Only a unique owner changes a node, so values may cross threads if their content may.
extension TrackedDictionary: @unchecked Sendable where Key: Sendable, Value: Sendable {}
