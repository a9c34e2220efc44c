/// A set of keys that mix their own hash.
@usableFromInline
package struct MixedSet<Key: MixedKey>: Sequence {
    @usableFromInline
    struct Nothing {
        @inlinable
        init() {}
    }

    @usableFromInline var table = HashTable<Key, Nothing>()

    @inlinable
    package init() {}

    @inlinable package var count: Int { table.count }
    @inlinable package var isEmpty: Bool { table.isEmpty }

    @inlinable
    package func contains(_ key: Key) -> Bool { table.find(key, key.mixed) != nil }

    @inlinable
    package mutating func insert(_ key: Key) {
        let hash = key.mixed
        if table.find(key, hash) == nil { table.insert(key, Nothing(), hash) }
    }

    @inlinable
    package mutating func remove(_ key: Key) {
        let hash = key.mixed
        if let place = table.find(key, hash) { table.remove(at: place, hash) }
    }

    @inlinable
    package mutating func removeAll() { table.removeAll() }

    /// Iterates in the order of places in the table.
    @usableFromInline
    package struct Iterator: IteratorProtocol {
        @usableFromInline var entries: HashTable<Key, Nothing>.Iterator

        @inlinable
        init(_ table: HashTable<Key, Nothing>) { entries = table.makeIterator() }

        @inlinable
        package mutating func next() -> Key? { entries.next()?.key }
    }

    @inlinable
    package func makeIterator() -> Iterator { Iterator(table) }
}

extension MixedSet.Nothing: Sendable {}
extension MixedSet: Sendable where Key: Sendable {}
