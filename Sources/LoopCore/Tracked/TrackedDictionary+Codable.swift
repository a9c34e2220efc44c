extension TrackedDictionary: Encodable where Key: Encodable, Value: Encodable {
    /// An array in which keys and values alternate, in order of insertion: a map would be sorted by key.
    public func encode(to encoder: any Encoder) throws {
        if try encodeDelta(to: encoder) { return }
        var container = encoder.unkeyedContainer()
        try encodeEntries(into: &container)
    }

    private func encodeEntries(into container: inout any UnkeyedEncodingContainer) throws {
        let layout = LeafLayout(Key.self, Value.self)
        try layout.forEach(in: order.root, height: order.height) { entry in
            try container.encode(entry.assumingMemoryBound(to: Key.self).pointee)
            try container.encode((entry + layout.value).assumingMemoryBound(to: Value.self).pointee)
        }
    }

    /// While a difference between states is written: what has changed here; while it is prepared: a number.
    /// - Returns: whether that is so.
    private func encodeDelta(to encoder: any Encoder) throws -> Bool {
        switch encoder.userInfo[DeltaCoding.key] as? DeltaCoding {
        case .noting(let parts): return try encode(parts.add(self, at: encoder.codingPath), to: encoder)
        case .anchoring(let parts):
            return try encode(parts.add(TrackedAnchor(self), at: encoder.codingPath), to: encoder)
        case .writing(let parts):
            var container = encoder.unkeyedContainer()
            if let (place, old) = parts.base(at: encoder.codingPath, Self.self) {
                // Entries of a node that was copied are the same bit for bit; others are sent.
                let changes = changes(since: old) { _, _ in false }
                if changes.count < Swift.max(count, 1) {
                    try container.encode(place)
                    try container.encode(changes.removed)
                    try Self.encode(changes.updated, to: container.nestedUnkeyedContainer())
                    try Self.encode(changes.inserted, to: container.nestedUnkeyedContainer())
                    return true
                }
            } else if let (place, anchor) = parts.anchor(at: encoder.codingPath, Self.self),
                let changes = anchor.changes(in: self), changes.count < Swift.max(count, 1)
            {
                try container.encode(place)
                try container.encode(changes.removed)
                try encodeEntries(at: changes.updated, into: container.nestedUnkeyedContainer())
                try encodeEntries(at: changes.inserted, into: container.nestedUnkeyedContainer())
                return true
            }
            try container.encodeNil()
            try encodeEntries(into: &container)
        case .reading, nil:
            return false
        }
        return true
    }

    private func encode(_ number: Int?, to encoder: any Encoder) throws -> Bool {
        guard let number else { return false }
        var container = encoder.singleValueContainer()
        try container.encode(number)
        return true
    }

    private static func encode(_ entries: [Element], to container: any UnkeyedEncodingContainer) throws {
        var container = container
        for (key, value) in entries {
            try container.encode(key)
            try container.encode(value)
        }
    }

    /// - Parameter ordinals: of entries that are there.
    private func encodeEntries(at ordinals: [Int], into container: any UnkeyedEncodingContainer) throws {
        var container = container
        let layout = LeafLayout(Key.self, Value.self)
        try layout.forEach(of: ordinals, in: order.root, height: order.height) { entry in
            try container.encode(entry.assumingMemoryBound(to: Key.self).pointee)
            try container.encode((entry + layout.value).assumingMemoryBound(to: Value.self).pointee)
        }
    }
}

extension TrackedDictionary: Decodable where Key: Decodable, Value: Decodable {
    /// - Throws: `DecodingError` where a key comes twice or the last has no value, and what keys and values throw.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        if let changed = try Self.decodeDelta(decoder.userInfo, &container) {
            self = changed
            try insert(from: &container)
        } else {
            try self.init(wholeFrom: &container)
        }
    }

    /// Fills leaf after leaf, and makes the index of all keys at once.
    private init(wholeFrom container: inout any UnkeyedDecodingContainer) throws {
        self.init()
        let layout = LeafLayout(Key.self, Value.self)
        var leaves: [AnyObject] = []
        var words: [UInt64] = []
        while !container.isAtEnd {
            let leaf = OrderLeaf<Key, Value>.make(capacity: TrieShape.width)
            let (header, entries) = layout.parts(of: Unmanaged.passUnretained(leaf))
            var (rank, entry) = (0, entries)
            leaves.append(leaf)
            while rank < TrieShape.width, !container.isAtEnd {
                let key = try container.decode(Key.self)
                if container.isAtEnd { throw Self.wrong("the last key has no value", container) }
                let value = try container.decode(Value.self)
                words.append(
                    IndexWord.word(UInt64(truncatingIfNeeded: key.hashValue) & IndexWord.hashMask, words.count))
                entry.initializeMemory(as: Key.self, to: key)
                (entry + layout.value).initializeMemory(as: Value.self, to: value)
                // From here on the leaf owns it.
                header.pointee.bitmap |= 1 << UInt16(rank)
                (rank, entry) = (rank + 1, entry + layout.stride)
            }
        }
        guard let last = words.last else { return }
        order = .full(leaves, count: words.count)
        let order = order
        let isUnlike = KeyIndex.build(&words, into: &index) {
            order.entry(at: $0).pointee.key != order.entry(at: $1).pointee.key
        }
        guard isUnlike else { throw Self.wrong("a key is inserted that is there", container) }
        // Whoever has asked for changes before finds that this is another dictionary.
        let ordinal = IndexWord.ordinal(last)
        touch(order.entry(at: ordinal).pointee.key, last & IndexWord.hashMask, ordinal)
    }

    private mutating func insert(from container: inout any UnkeyedDecodingContainer) throws {
        while !container.isAtEnd {
            let key = try container.decode(Key.self)
            let hash = IndexWord.hash(key)
            if find(key, hash) != nil { throw Self.wrong("a key is inserted that is there", container) }
            if container.isAtEnd { throw Self.wrong("the last key has no value", container) }
            insert(key, try container.decode(Value.self), hash)
        }
    }

    /// While a difference between states is read: makes all changes but the insertions, which are left in the container
    /// or in one of their own.
    /// - Returns: nil for a dictionary that was written whole.
    private static func decodeDelta(
        _ userInfo: [CodingUserInfoKey: Any], _ container: inout any UnkeyedDecodingContainer
    ) throws -> TrackedDictionary? {
        guard case .reading(let parts)? = userInfo[DeltaCoding.key] as? DeltaCoding else { return nil }
        if try container.decodeNil() { return nil }
        guard var dictionary = parts.base(try container.decode([String].self), Self.self) else {
            throw wrong("the difference is to a dictionary that is not there", container)
        }
        for key in try container.decode([Key].self) where dictionary.removeValue(forKey: key) == nil {
            throw wrong("a key is removed that is not there", container)
        }
        var updated = try container.nestedUnkeyedContainer()
        while !updated.isAtEnd {
            let key = try updated.decode(Key.self)
            let hash = IndexWord.hash(key)
            guard let ordinal = dictionary.find(key, hash), !updated.isAtEnd else {
                throw wrong("a key is updated that is not there, or that comes without a value", updated)
            }
            dictionary.touch(key, hash, ordinal)
            dictionary.order.uniqueEntry(at: ordinal).pointee.value = try updated.decode(Value.self)
        }
        var inserted = try container.nestedUnkeyedContainer()
        try dictionary.insert(from: &inserted)
        guard container.isAtEnd else { throw wrong("there is more than changes", container) }
        return dictionary
    }

    private static func wrong(_ what: String, _ container: any UnkeyedDecodingContainer) -> DecodingError {
        .dataCorruptedError(in: container, debugDescription: "in a dictionary, \(what)")
    }
}
