// Unsafe: a container's number is one of the index, which lasts until the document is closed.

/// A collection that the coder builds itself, from the form in which it writes it.
protocol CBORCollectionDecodable: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> Self
}

extension Array: CBORCollectionDecodable where Element: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> [Element] {
        try core.decoding(of: Element.self).readArray(core, item)
    }
}

extension Set: CBORCollectionDecodable where Element: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> Set<Element> {
        var (element, count) = try core.open(item, major: 4, Self.self, "an array")
        var elements: Set<Element> = []
        let decoding = core.decoding(of: Element.self)
        elements.reserveCapacity(core.room(for: count, of: MemoryLayout<Element>.stride, in: item))
        while count > 0 {
            guard elements.insert(try decoding.read(core, element)).inserted else {
                throw core.refused("an element of a set appears a second time", element)
            }
            element = core.index.after(element)
            count -= 1
        }
        return elements
    }
}

extension Dictionary: CBORCollectionDecodable where Key: Decodable, Value: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> [Key: Value] {
        var (entry, count) = try core.open(item, major: 5, Self.self, "a map")
        var entries: [Key: Value] = [:]
        let stride = MemoryLayout<Key>.stride + MemoryLayout<Value>.stride
        entries.reserveCapacity(core.room(for: count, of: stride, in: item))
        while count > 0 {
            let key = try core.decodeKey(Key.self, at: entry)
            let value = core.index.after(entry)
            guard entries.updateValue(try core.decode(Value.self, at: value), forKey: key) == nil else {
                throw WireError.duplicateKey(key: core.index.excerpt(entry), offset: Int(entry.offset))
            }
            entry = core.index.after(value)
            count -= 1
        }
        return entries
    }
}

extension Optional: CBORCollectionDecodable where Wrapped: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> Wrapped? {
        if try core.isNull(item) { return nil }
        guard Wrapped.self is any CBOROptional.Type else { return try core.decode(Wrapped.self, at: item) }
        let (inner, count) = try core.open(item, major: 4, Self.self, "null or an array of one")
        guard count == 1 else { throw core.mismatch(Self.self, "null or an array of one", item) }
        return try core.decode(Wrapped.self, at: inner)
    }
}

extension DecodingCore {
    /// The number of elements for which memory is reserved before they are read. At most 16 bytes are reserved for each byte of the
    /// document, because a tiny item may claim to be a large element.
    func room(for count: Int, of stride: Int, in item: Item) -> Int {
        let container = unsafe index.containers[Int(item.container)]
        let size = Int(container.contentEnd - container.start)
        return min(count, 16 * size / max(stride, 1))
    }

    /// A dictionary's key. Integer keys are also accepted as decimal text, the only form that JSON has for them.
    func decodeKey<K: Decodable>(_ type: K.Type, at item: Item) throws -> K {
        guard let number = type as? any FixedWidthInteger.Type, try head(item).major == 3 else {
            return try decode(type, at: item)
        }
        guard let key = parsed(number, try string(item)) as? K else {
            throw mismatch(type, "an integer key", item)
        }
        return key
    }

    private func parsed<N: FixedWidthInteger>(_ type: N.Type, _ text: String) -> N? { N(text) }
}
