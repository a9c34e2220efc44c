// Unsafe: the dictionary is retained while its entries are read, and the layout fits its types.

/// The tracked dictionaries of a state whose manifest is encoded. In the manifest their numbers in this list, from 0, replace them.
package final class NumberedDictionaries: Sendable {
    private let sources = Locked<[any EntrySource]>([])

    package init() {}

    /// - Returns: the dictionary's number.
    func add(_ source: any EntrySource) -> Int {
        sources.withLock { sources in
            sources.append(source)
            return sources.count - 1
        }
    }

    /// The dictionaries by their numbers.
    package var all: [any EntrySource] { sources.withLock { $0 } }
}

/// The entries of a copy of a tracked dictionary, which are encoded in pieces.
package protocol EntrySource: Sendable {
    var count: Int { get }

    /// Encodes entries in order, keys and values in turn.
    /// - Parameters:
    ///   - ordinal: the ordinal of the first entry, or of a gap before it.
    ///   - max: the largest number of entries.
    /// - Returns: the number of encoded entries, and the ordinal to continue from, or nil if there are no more.
    func encode(
        from ordinal: Int, atMost max: Int, into container: any UnkeyedEncodingContainer
    ) throws -> (count: Int, next: Int?)
}

/// A copy, which shares the memory that the dictionary does not change.
struct TrackedEntries<Key: Hashable & Encodable, Value: Encodable>: EntrySource, @unchecked Sendable {
    // It never changes. A state that is encoded on another thread is `Sendable`, and so are its parts.
    let dictionary: TrackedDictionary<Key, Value>

    var count: Int { dictionary.count }

    func encode(
        from ordinal: Int, atMost max: Int, into container: any UnkeyedEncodingContainer
    ) throws -> (count: Int, next: Int?) {
        var container = container
        let layout = LeafLayout(Key.self, Value.self)
        var count = 0
        let next = try unsafe layout.forEach(
            from: ordinal, atMost: max, in: dictionary.order.root, height: dictionary.order.height
        ) { entry in
            try unsafe container.encode(entry.assumingMemoryBound(to: Key.self).pointee)
            try unsafe container.encode((entry + layout.value).assumingMemoryBound(to: Value.self).pointee)
            count += 1
        }
        return (count, next)
    }
}

/// The tracked dictionaries of a state whose entries arrive in chunks, by their numbers in the state's manifest.
package final class AssembledDictionaries: @unchecked Sendable {
    // One thread at a time uses it: the follower of a state owns it, and lends it to a decoder for a call.
    private var builders: [Int: any DictionaryBuilding] = [:]

    package init() {}

    /// Notes that entries of this number belong to a dictionary of this type.
    /// - Returns: false if the number was noted with another type before.
    func expect<Key: Decodable, Value: Decodable>(
        _ number: Int, _ type: TrackedDictionary<Key, Value>.Type
    ) -> Bool {
        if let builder = builders[number] { return builder is DictionaryBuilder<Key, Value> }
        builders[number] = DictionaryBuilder<Key, Value>()
        return true
    }

    /// Decodes entries, keys and values in turn, and adds them to the earlier ones.
    /// - Throws: `DecodingError` if no dictionary has the number or the last key has no value, and what keys and values throw.
    package func add(to number: Int, from container: inout any UnkeyedDecodingContainer) throws {
        guard let builder = builders[number] else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "the manifest has no dictionary with the number \(number)")
        }
        try builder.add(from: &container)
    }

    /// The dictionary of a number with all entries that have arrived, or nil if it has another type.
    /// - Throws: `DecodingError` if a key has arrived twice.
    func dictionary<Key: Decodable, Value: Decodable>(
        _ number: Int, _ type: TrackedDictionary<Key, Value>.Type, at path: [any CodingKey]
    ) throws -> TrackedDictionary<Key, Value>? {
        try (builders[number] as? DictionaryBuilder<Key, Value>)?.dictionary(at: path)
    }
}

private protocol DictionaryBuilding: AnyObject {
    func add(from container: inout any UnkeyedDecodingContainer) throws
}

private final class DictionaryBuilder<Key: Hashable & Decodable, Value: Decodable>: DictionaryBuilding {
    private var filling = TrackedDictionary<Key, Value>.Filling()
    private var filled: TrackedDictionary<Key, Value>?

    func add(from container: inout any UnkeyedDecodingContainer) throws { try filling.add(from: &container) }

    func dictionary(at path: [any CodingKey]) throws -> TrackedDictionary<Key, Value> {
        if let filled { return filled }
        let dictionary = try filling.take(at: path)
        filled = dictionary
        return dictionary
    }
}
