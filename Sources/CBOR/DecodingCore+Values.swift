// Unsafe: a container's number is one of the index, which lasts until the document is closed.

/// Reading one value of any type from a document.
extension DecodingCore {
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, at item: Item) throws -> T { try decoding(of: type).read(self, item) }

    /// For how many elements room is made before any of them was read: for all, but with no more than 16 bytes of memory for
    /// each byte of the document. An element may be large in memory, and in the document a single byte.
    fileprivate func room(for count: Int, of stride: Int, in item: Item) -> Int {
        let container = index.containers[Int(item.container)]
        let size = Int(container.contentEnd - container.start)
        return min(count, 16 * size / max(stride, 1))
    }

    /// An array whose elements are read by `read`.
    @inline(__always)
    func elements<T>(_ item: Item, _ read: (Item) throws -> T) throws -> [T] {
        var (element, count) = try open(item, major: 4, [T].self, "an array")
        var values: [T] = []
        values.reserveCapacity(room(for: count, of: MemoryLayout<T>.stride, in: item))
        while count > 0 {
            values.append(try read(element))
            element = index.after(element)
            count -= 1
        }
        return values
    }

    /// A dictionary's key. Integer keys are also taken from decimal text, the only form that JSON has for them.
    fileprivate func decodeKey<K: Decodable>(_ type: K.Type, at item: Item) throws -> K {
        guard let number = type as? any FixedWidthInteger.Type, try head(item).major == 3 else {
            return try decode(type, at: item)
        }
        guard let key = parsed(number, try string(item)) as? K else { throw mismatch(type, "an integer key", item) }
        return key
    }

    private func parsed<N: FixedWidthInteger>(_ type: N.Type, _ text: String) -> N? { N(text) }
}

/// How the values of one type are decoded: by themselves, through `Codable`.
class ValueDecoding<Value: Decodable> {
    func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Value {
        try Value(from: CBORDecoder(core: core, item: item))
    }

    func readArray(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> [Value] {
        try core.elements(item) { try read(core, $0) }
    }
}

/// How the values of a type are decoded that the coder decodes itself.
private final class DirectDecoding<Value: CBORDecodable>: ValueDecoding<Value> {
    override func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Value {
        try Value.decode(from: core, at: item)
    }

    override func readArray(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> [Value] {
        try Value.decodeArray(from: core, at: item)
    }
}

/// A type whose values the coder decodes itself, from the form in which it encodes them.
protocol CBORDecodable: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> Self

    static func decodeArray(from core: DecodingCore, at item: CBORIndex.Item) throws -> [Self]
}

extension CBORDecodable {
    static var decoding: AnyObject { DirectDecoding<Self>() }

    static func decodeArray(from core: DecodingCore, at item: CBORIndex.Item) throws -> [Self] {
        try core.elements(item) { try decode(from: core, at: $0) }
    }
}

extension Array: CBORDecodable where Element: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> [Element] {
        try core.decoding(of: Element.self).readArray(core, item)
    }
}

extension Set: CBORDecodable where Element: Decodable {
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

extension Dictionary: CBORDecodable where Key: Decodable, Value: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> [Key: Value] {
        var (entry, count) = try core.open(item, major: 5, Self.self, "a map")
        var entries: [Key: Value] = [:]
        let decoding = core.decoding(of: Value.self)
        let stride = MemoryLayout<Key>.stride + MemoryLayout<Value>.stride
        entries.reserveCapacity(core.room(for: count, of: stride, in: item))
        while count > 0 {
            let key = try core.decodeKey(Key.self, at: entry)
            let value = core.index.after(entry)
            guard entries.updateValue(try decoding.read(core, value), forKey: key) == nil else {
                throw WireError.duplicateKey(key: core.index.excerpt(entry), offset: Int(entry.offset))
            }
            entry = core.index.after(value)
            count -= 1
        }
        return entries
    }
}

extension Optional: CBORDecodable where Wrapped: Decodable {
    static func decode(from core: DecodingCore, at item: CBORIndex.Item) throws -> Wrapped? {
        if try core.isNull(item) { return nil }
        guard Wrapped.self is any CBOROptional.Type else { return try core.decode(Wrapped.self, at: item) }
        let (inner, count) = try core.open(item, major: 4, Self.self, "null or an array of one")
        guard count == 1 else { throw core.mismatch(Self.self, "null or an array of one", item) }
        return try core.decode(Wrapped.self, at: inner)
    }
}
