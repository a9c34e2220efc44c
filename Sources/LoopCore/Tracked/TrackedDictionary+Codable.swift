extension TrackedDictionary: Encodable where Key: Encodable, Value: Encodable {
    /// An array in which keys and values alternate, in order of insertion: a map would be sorted by key.
    @inlinable
    public func encode(to encoder: any Encoder) throws {
        if try encodeDelta(to: encoder) { return }
        var container = encoder.unkeyedContainer()
        for (key, value) in self {
            try container.encode(key)
            try container.encode(value)
        }
    }

    /// While a difference between states is written: what has changed here; while it is prepared: a number.
    /// - Returns: whether that is so.
    @usableFromInline
    func encodeDelta(to encoder: any Encoder) throws -> Bool {
        switch encoder.userInfo[DeltaCoding.key] as? DeltaCoding {
        case .noting(let parts):
            guard let number = parts.add(self, at: encoder.codingPath) else { return false }
            var container = encoder.singleValueContainer()
            try container.encode(number)
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
            }
            try container.encodeNil()
            for (key, value) in self {
                try container.encode(key)
                try container.encode(value)
            }
        case .reading, nil:
            return false
        }
        return true
    }

    private static func encode(_ entries: [Element], to container: any UnkeyedEncodingContainer) throws {
        var container = container
        for (key, value) in entries {
            try container.encode(key)
            try container.encode(value)
        }
    }
}

extension TrackedDictionary: Decodable where Key: Decodable, Value: Decodable {
    /// - Throws: `DecodingError` where a key comes twice or the last has no value, and what keys and values throw.
    @inlinable
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        self.init()
        if let changed = try Self.decodeDelta(decoder.userInfo, &container) { self = changed }
        try insert(from: &container)
    }

    @inlinable
    mutating func insert(from container: inout any UnkeyedDecodingContainer) throws {
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
    @usableFromInline
    static func decodeDelta(
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
            dictionary.touch(key, hash)
            dictionary.order.uniqueEntry(at: ordinal).pointee.value = try updated.decode(Value.self)
        }
        var inserted = try container.nestedUnkeyedContainer()
        try dictionary.insert(from: &inserted)
        guard container.isAtEnd else { throw wrong("there is more than changes", container) }
        return dictionary
    }

    @usableFromInline
    static func wrong(_ what: String, _ container: any UnkeyedDecodingContainer) -> DecodingError {
        .dataCorruptedError(in: container, debugDescription: "in a dictionary, \(what)")
    }
}
