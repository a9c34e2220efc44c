// Unsafe: the dictionary is retained while its entries are read, and the layout fits its types.

extension TrackedDictionary: Encodable where Key: Encodable, Value: Encodable {
    /// Encodes an array in which keys and values alternate, in order of insertion, because a map would be sorted by key.
    /// - Throws: what the encoder, a key or a value throws.
    public func encode(to encoder: any Encoder) throws {
        if try encodeDelta(to: encoder) { return }
        var container = encoder.unkeyedContainer()
        try encodeEntries(into: &container)
    }

    private func encodeEntries(into container: inout any UnkeyedEncodingContainer) throws {
        let layout = LeafLayout(Key.self, Value.self)
        var count = 0
        try unsafe layout.forEach(in: order.root, height: order.height) { entry in
            try unsafe container.encode(entry.assumingMemoryBound(to: Key.self).pointee)
            try unsafe container.encode((entry + layout.value).assumingMemoryBound(to: Value.self).pointee)
            count += 1
            if count % 128 == 0 { BackgroundWork.giveWay() }
        }
    }

    /// While a difference between states is written, encodes the changes. While one is prepared, encodes a number.
    /// - Returns: whether it has done so.
    private func encodeDelta(to encoder: any Encoder) throws -> Bool {
        switch encoder.userInfo[DeltaCoding.key] as? DeltaCoding {
        case .noting(let parts): return try encode(parts.add(self, at: encoder.codingPath), to: encoder)
        case .anchoring(let parts):
            return try encode(parts.add(TrackedAnchor(self), at: encoder.codingPath), to: encoder)
        case .outlining(let dictionaries):
            return try encode(dictionaries.add(TrackedEntries(dictionary: self)), to: encoder)
        case .writing(let parts):
            var container = encoder.unkeyedContainer()
            if let (place, anchor) = parts.anchor(at: encoder.codingPath, Self.self),
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
        case .showing:
            var container = encoder.singleValueContainer()
            try container.encode(Dictionary(uniqueKeysWithValues: map { ($0.key, $0.value) }))
        case .reading, .expecting, .assembling, nil:
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

    /// - Parameter ordinals: ordinals of existing entries.
    private func encodeEntries(at ordinals: [Int], into container: any UnkeyedEncodingContainer) throws {
        var container = container
        let layout = LeafLayout(Key.self, Value.self)
        try unsafe layout.forEach(of: ordinals, in: order.root, height: order.height) { entry in
            try unsafe container.encode(entry.assumingMemoryBound(to: Key.self).pointee)
            try unsafe container.encode((entry + layout.value).assumingMemoryBound(to: Value.self).pointee)
        }
    }
}

extension TrackedDictionary: Decodable where Key: Decodable, Value: Decodable {
    /// Reads the array that ``encode(to:)`` writes. Within a delta it reads the changes to the base instead.
    /// - Throws: `DecodingError` if a key occurs twice or the last key has no value, and what keys and values throw.
    public init(from decoder: any Decoder) throws {
        let coding = decoder.userInfo[DeltaCoding.key] as? DeltaCoding
        if let numbered = try Self.numbered(decoder, coding) {
            self = numbered
            return
        }
        var container = try decoder.unkeyedContainer()
        if let changed = try Self.decodeDelta(coding, &container) {
            self = changed
            try insert(from: &container)
        } else {
            try self.init(wholeFrom: &container)
        }
    }

    /// While a manifest is read, makes the dictionary of the number in its position.
    /// - Returns: nil if the dictionary itself is there.
    private static func numbered(_ decoder: any Decoder, _ coding: DeltaCoding?) throws -> TrackedDictionary? {
        switch coding {
        case .expecting(let dictionaries):
            let number = try decoder.singleValueContainer().decode(Int.self)
            guard dictionaries.expect(number, Self.self) else { throw another(number, decoder) }
            return TrackedDictionary()
        case .assembling(let dictionaries):
            let number = try decoder.singleValueContainer().decode(Int.self)
            guard let dictionary = try dictionaries.dictionary(number, Self.self, at: decoder.codingPath) else {
                throw another(number, decoder)
            }
            return dictionary
        case .noting, .anchoring, .outlining, .writing, .reading, .showing, nil: return nil
        }
    }

    private static func another(_ number: Int, _ decoder: any Decoder) -> DecodingError {
        wrong("the number \(number) stands for one of another type", decoder.codingPath)
    }

    private init(wholeFrom container: inout any UnkeyedDecodingContainer) throws {
        var filling = Filling()
        try filling.add(from: &container)
        self = try filling.take(at: container.codingPath)
    }

    /// A dictionary while its entries arrive. Leaf after leaf is filled, and the index of all keys is made at once.
    struct Filling {
        private let layout = LeafLayout(Key.self, Value.self)
        private var leaves: [AnyObject] = []
        private var words: [UInt64] = []
        /// The bits of each entry's hash that are not in its word, because many keys of a large dictionary share the bits in the
        /// word.
        private var furtherHashes: [UInt32] = []

        /// Adds entries after the earlier ones.
        /// - Throws: `DecodingError` if the last key has no value, and what keys and values throw.
        mutating func add(from container: inout any UnkeyedDecodingContainer) throws {
            while !container.isAtEnd {
                var rank = words.count & TrieShape.mask
                if rank == 0 { leaves.append(OrderLeaf<Key, Value>.make(capacity: TrieShape.width)) }
                let leaf = leaves[leaves.count - 1]
                let (header, entries) = unsafe layout.parts(of: Unmanaged.passUnretained(leaf))
                var entry = unsafe entries + rank * layout.stride
                while rank < TrieShape.width, !container.isAtEnd {
                    let key = try container.decode(Key.self)
                    if container.isAtEnd { throw wrong("the last key has no value", container.codingPath) }
                    let value = try container.decode(Value.self)
                    let hash = UInt64(truncatingIfNeeded: key.hashValue)
                    words.append(IndexWord.word(hash & IndexWord.hashMask, words.count))
                    furtherHashes.append(UInt32(truncatingIfNeeded: hash >> IndexWord.hashBits))
                    unsafe entry.initializeMemory(as: Key.self, to: key)
                    unsafe (entry + layout.value).initializeMemory(as: Value.self, to: value)
                    // From here on the leaf owns it.
                    unsafe header.pointee.bitmap |= 1 << UInt16(rank)
                    unsafe (rank, entry) = unsafe (rank + 1, entry + layout.stride)
                }
            }
        }

        /// Makes the dictionary of all entries that have arrived. None remain here.
        /// - Throws: `DecodingError` if a key has arrived twice.
        mutating func take(at path: @autoclosure () -> [any CodingKey]) throws -> TrackedDictionary {
            defer { (leaves, words, furtherHashes) = ([], [], []) }
            var dictionary = TrackedDictionary()
            guard let last = words.last else { return dictionary }
            let order = OrderTree<Key, Value>.full(leaves, count: words.count)
            dictionary.order = order
            let isUnlike = unsafe furtherHashes.withUnsafeBufferPointer { hashes in
                KeyIndex.build(&words, into: &dictionary.index) {
                    unsafe hashes[$0] != hashes[$1]
                        || order.entry(at: $0).pointee.key != order.entry(at: $1).pointee.key
                }
            }
            guard isUnlike else { throw wrong("a key is inserted that is there", path()) }
            // A touch shows code that looks for changes since an earlier stamp that this is another dictionary.
            let ordinal = IndexWord.ordinal(last)
            unsafe dictionary.touch(order.entry(at: ordinal).pointee.key, last & IndexWord.hashMask, ordinal)
            return dictionary
        }
    }

    private mutating func insert(from container: inout any UnkeyedDecodingContainer) throws {
        while !container.isAtEnd {
            let key = try container.decode(Key.self)
            let hash = IndexWord.hash(key)
            if find(key, hash) != nil { throw wrong("a key is inserted that is there", container.codingPath) }
            if container.isAtEnd { throw wrong("the last key has no value", container.codingPath) }
            insert(key, try container.decode(Value.self), hash)
        }
    }

    /// While a difference between states is read, makes all changes but the insertions, which remain in the container or in a
    /// nested one.
    /// - Returns: nil for a dictionary that was written whole.
    private static func decodeDelta(
        _ coding: DeltaCoding?, _ container: inout any UnkeyedDecodingContainer
    ) throws -> TrackedDictionary? {
        guard case .reading(let parts)? = coding else { return nil }
        if try container.decodeNil() { return nil }
        guard var dictionary = parts.base(try container.decode([String].self), Self.self) else {
            throw wrong("the difference is to a dictionary that is not there", container.codingPath)
        }
        for key in try container.decode([Key].self) where dictionary.removeValue(forKey: key) == nil {
            throw wrong("a key is removed that is not there", container.codingPath)
        }
        var updated = try container.nestedUnkeyedContainer()
        while !updated.isAtEnd {
            let key = try updated.decode(Key.self)
            let hash = IndexWord.hash(key)
            guard let ordinal = dictionary.find(key, hash), !updated.isAtEnd else {
                throw wrong("a key is updated that is not there, or that comes without a value", updated.codingPath)
            }
            dictionary.touch(key, hash, ordinal)
            unsafe dictionary.order.uniqueEntry(at: ordinal).pointee.value = try updated.decode(Value.self)
            if updated.currentIndex % 64 == 0 { BackgroundWork.giveWay() }
        }
        var inserted = try container.nestedUnkeyedContainer()
        try dictionary.insert(from: &inserted)
        guard container.isAtEnd else { throw wrong("there is more than changes", container.codingPath) }
        return dictionary
    }

}

private func wrong(_ what: String, _ path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: "in a dictionary, \(what)"))
}
