extension TrackedDictionary: Encodable where Key: Encodable, Value: Encodable {
    /// An array in which keys and values alternate, in order of insertion: a map would be sorted by key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for (key, value) in self {
            try container.encode(key)
            try container.encode(value)
        }
    }
}

extension TrackedDictionary: Decodable where Key: Decodable, Value: Decodable {
    /// - Throws: `DecodingError` where a key comes twice or the last has no value, and what keys and values throw.
    public init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            let key = try container.decode(Key.self)
            let hash = IndexWord.hash(key)
            guard find(key, hash) == nil else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "a key appears a second time in a dictionary")
            }
            guard !container.isAtEnd else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "the last key of a dictionary has no value")
            }
            insert(key, try container.decode(Value.self), hash)
        }
    }
}
