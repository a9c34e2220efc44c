// Unsafe: places are below `high` and taken, and the storage is changed only if no other table refers to it.

/// A hash table whose caller provides the hash of each key. Keys only need equality.
///
///     words: hash, place ──▶ entries: key, value       linear probing, in chunks of 8 bytes
///
/// An entry keeps its place until it is removed, so a place needs to be looked up only once. Iteration is in the order of places,
/// which depends only on the insertions and removals. It is a value like `Dictionary`.
@usableFromInline
package struct HashTable<Key: Equatable, Value> {
    @usableFromInline typealias Storage = HashStorage<Key, Value>

    @usableFromInline var storage: Storage?

    @inlinable
    package init() {}

    // MARK: Reading

    @inlinable package var count: Int { unsafe storage?.count ?? 0 }

    @inlinable package var isEmpty: Bool { count == 0 }

    /// The place of a key, or nil if the table does not have it.
    @inlinable
    package func find(_ key: Key, _ hash: UInt64) -> Int? {
        storage?.find(key, UInt32(truncatingIfNeeded: hash))
    }

    /// Whether a key is at a place, which may be any number.
    @inlinable
    package func has(_ key: Key, at place: Int) -> Bool {
        guard let storage, place >= 0, unsafe place < storage.high, storage.isTaken(place) else { return false }
        return unsafe storage.entries[place].key == key
    }

    /// The key at a place, which may be any number, or nil if the place is not taken.
    @inlinable
    package func keyIfTaken(at place: Int) -> Key? {
        guard let storage, place >= 0, unsafe place < storage.high, storage.isTaken(place) else { return nil }
        return unsafe storage.entries[place].key
    }

    /// The key at a taken place.
    @inlinable
    package func key(at place: Int) -> Key { unsafe taken.entries[place].key }

    /// The value at a taken place.
    @inlinable
    package subscript(at place: Int) -> Value {
        _read { yield unsafe taken.entries[place].value }
        _modify {
            makeUnique()
            let entry = unsafe taken.entries + place
            yield unsafe &entry.pointee.value
        }
    }

    @inlinable @inline(__always)
    var taken: Storage {
        guard let storage else { preconditionFailure("an empty table has no places") }
        return storage
    }

    // MARK: Changing

    /// Inserts a key that the table does not have.
    /// - Returns: its place.
    @inlinable @discardableResult
    package mutating func insert(_ key: Key, _ value: consuming Value, _ hash: UInt64) -> Int {
        if storage == nil {
            storage = Storage(capacity: 6)
        } else if unsafe taken.count == taken.capacity {
            storage = isKnownUniquelyReferenced(&storage) ? taken.grown() : taken.copy(capacity: taken.capacity * 2)
        } else {
            makeUnique()
        }
        let place = taken.take(UInt32(truncatingIfNeeded: hash))
        unsafe (taken.entries + place).initialize(to: HashEntry(key: key, value: value))
        return place
    }

    /// Removes and returns the value at a taken place.
    @inlinable @discardableResult
    package mutating func remove(at place: Int, _ hash: UInt64) -> Value {
        makeUnique()
        taken.unlink(place, UInt32(truncatingIfNeeded: hash))
        return unsafe (taken.entries + place).move().value
    }

    /// Destroys the entry at a taken place.
    @inlinable
    package mutating func drop(at place: Int, _ hash: UInt64) {
        makeUnique()
        taken.unlink(place, UInt32(truncatingIfNeeded: hash))
        unsafe (taken.entries + place).deinitialize(count: 1)
    }

    @inlinable
    package mutating func removeAll() { storage = nil }

    @inlinable @inline(__always)
    mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&storage) { storage = storage.map { $0.copy(capacity: $0.capacity) } }
    }
}

extension HashTable: Sequence {
    /// Iterates in the order of places.
    @usableFromInline
    package struct Iterator: IteratorProtocol {
        @usableFromInline let storage: Storage?
        @usableFromInline var place = 0

        @inlinable
        init(_ storage: Storage?) { self.storage = storage }

        @inlinable
        package mutating func next() -> (key: Key, value: Value)? {
            guard let storage else { return nil }
            while unsafe place < storage.high {
                defer { place += 1 }
                if storage.isTaken(place) {
                    let entry = unsafe storage.entries + place
                    return unsafe (entry.pointee.key, entry.pointee.value)
                }
            }
            return nil
        }
    }

    @inlinable
    package func makeIterator() -> Iterator { Iterator(storage) }

    @inlinable package var underestimatedCount: Int { count }
}

extension HashTable {
    /// The taken places with their keys.
    @inlinable
    package var places: some Sequence<(place: Int, key: Key)> {
        let storage = storage
        return unsafe (0..<(storage?.high ?? 0)).lazy.compactMap { place in
            guard let storage, storage.isTaken(place) else { return nil }
            return unsafe (place, storage.entries[place].key)
        }
    }
}

// Only a unique owner changes the storage, so it may cross threads if its content may.
extension HashTable: @unchecked Sendable where Key: Sendable, Value: Sendable {}
