// Unsafe: the entry belongs to this table's own storage, and nothing else uses it until it is moved back.

/// A key that mixes its own hash, for a tenth of the cost of a `Hasher`.
///
/// The mix has no secret. So use it only for keys with numbers that no peer can choose. A peer may look up any key, but must not be
/// able to insert one.
@usableFromInline
package protocol MixedKey: Equatable {
    /// A hash with low 32 bits that depend on everything that makes keys differ.
    var mixed: UInt64 { get }
}

extension UInt64: MixedKey {
    @inlinable @inline(__always)
    package var mixed: UInt64 { Mix.finish(self) }
}

@usableFromInline
package enum Mix {
    /// Mixes the upper bits of a product into the lower ones. (The last steps of MurmurHash3.)
    @inlinable @inline(__always)
    package static func finish(_ number: UInt64) -> UInt64 {
        let folded = (number ^ number >> 32) &* 0xD6E8_FEB8_6659_FD93
        return folded ^ folded >> 32
    }
}

/// Makes a table with keys that mix their own hash usable like a `Dictionary`.
extension HashTable where Key: MixedKey {
    @inlinable
    package subscript(key: Key) -> Value? {
        get { find(key, key.mixed).map { self[at: $0] } }
        set {
            let hash = key.mixed
            switch (find(key, hash), newValue) {
            case (let place?, let value?): self[at: place] = value
            case (let place?, nil): remove(at: place, hash)
            case (nil, let value?): insert(key, value, hash)
            case (nil, nil): break
            }
        }
        _modify {
            let hash = key.mixed
            if let place = find(key, hash) {
                makeUnique()
                // The value is moved out and back, so that it has no other owner meanwhile.
                let address = unsafe withUnsafeMutablePointer(to: &taken.entries[place].value) { unsafe $0 }
                var value: Value? = unsafe address.move()
                defer {
                    if let value {
                        unsafe address.initialize(to: value)
                    } else {
                        taken.unlink(place, UInt32(truncatingIfNeeded: hash))
                        _ = unsafe withUnsafeMutablePointer(to: &taken.entries[place].key) { unsafe $0.move() }
                    }
                }
                yield &value
            } else {
                var value: Value?
                defer { if let value { insert(key, value, hash) } }
                yield &value
            }
        }
    }

    /// - Returns: the key's place.
    @inlinable @discardableResult
    package mutating func updateValue(_ value: consuming Value, forKey key: Key) -> Int {
        let hash = key.mixed
        guard let place = find(key, hash) else { return insert(key, value, hash) }
        self[at: place] = value
        return place
    }

    @inlinable
    package func contains(_ key: Key) -> Bool { find(key, key.mixed) != nil }

    @inlinable
    package func index(forKey key: Key) -> Int? { find(key, key.mixed) }

    @inlinable @discardableResult
    package mutating func removeValue(forKey key: Key) -> Value? {
        let hash = key.mixed
        guard let place = find(key, hash) else { return nil }
        return remove(at: place, hash)
    }

    /// The keys in the order of places.
    @inlinable package var keys: [Key] { map { $0.key } }

    /// The entries for which the predicate holds.
    @inlinable
    package func filter(_ isIncluded: ((key: Key, value: Value)) throws -> Bool) rethrows -> HashTable {
        var kept = HashTable()
        for entry in self where try isIncluded(entry) { kept.insert(entry.key, entry.value, entry.key.mixed) }
        return kept
    }
}

extension HashTable: Equatable where Key: MixedKey, Value: Equatable {
    @usableFromInline
    package static func == (a: HashTable, b: HashTable) -> Bool {
        a.count == b.count && a.allSatisfy { b[$0.key] == $0.value }
    }
}
