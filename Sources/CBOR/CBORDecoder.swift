// Unsafe: the objects for types of keys are never freed. One thread has them, and none of their accesses calls another's code.

/// What a type's `init(from:)` is given: an item of the document.
struct CBORDecoder: Decoder {
    let core: DecodingCore
    let item: CBORIndex.Item

    var codingPath: [any CodingKey] { core.codingPath(of: item) }

    var userInfo: [CodingUserInfoKey: Any] { core.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try core.checkMap(item)
        return core.keys(type).container(self)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try CBORUnkeyedDecoding(core, item) }

    func singleValueContainer() -> any SingleValueDecodingContainer { CBORSingleDecoding(core: core, item: item) }
}

/// An item read as one value.
private struct CBORSingleDecoding: SingleValueDecodingContainer {
    let core: DecodingCore
    let item: CBORIndex.Item

    var codingPath: [any CodingKey] { core.codingPath(of: item) }

    func decodeNil() -> Bool { (try? core.isNull(item)) ?? false }

    @inline(__always)
    func decode<Scalar: CBORScalar>(_ type: Scalar.Type) throws -> Scalar { try Scalar.read(core, item) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try core.decode(type, at: item) }
}

/// The elements of an array, read one after the other.
private struct CBORUnkeyedDecoding: UnkeyedDecodingContainer {
    let core: DecodingCore
    private let array: CBORIndex.Item
    private var next: CBORIndex.Item
    private(set) var currentIndex = 0

    init(_ core: DecodingCore, _ item: CBORIndex.Item) throws {
        self.core = core
        array = item
        (next, _) = try core.open(item, major: 4, [Any].self, "an array")
    }

    var codingPath: [any CodingKey] { core.codingPath(of: array) }

    var count: Int? { core.isOpen ? Int(core.index.containers[Int(array.container)].count) : 0 }

    var isAtEnd: Bool { currentIndex >= count ?? 0 }

    @inline(__always)
    private mutating func take<T>(_ type: T.Type, _ read: (DecodingCore, CBORIndex.Item) throws -> T) throws -> T {
        guard !isAtEnd else { throw pastEnd(type) }
        let value = try read(core, next)
        advance()
        return value
    }

    @inline(__always)
    private mutating func advance() {
        next = core.index.after(next)
        currentIndex += 1
    }

    private func pastEnd(_ type: Any.Type) -> DecodingError {
        let why = "an array of \(count ?? 0) elements has no element \(currentIndex)"
        return .valueNotFound(
            type,
            DecodingError.Context(
                codingPath: codingPath, debugDescription: why,
                underlyingError: WireError.refused(path: CBORPath.text(codingPath), why: why)))
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { throw pastEnd(Any?.self) }
        guard try core.isNull(next) else { return false }
        advance()
        return true
    }

    @inline(__always)
    mutating func decode<Scalar: CBORScalar>(_ type: Scalar.Type) throws -> Scalar { try take(type, Scalar.read) }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try take(type) { try $0.decode(type, at: $1) } }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try take(KeyedDecodingContainer<Key>.self) {
            try CBORDecoder(core: $0, item: $1).container(keyedBy: type)
        }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take((any UnkeyedDecodingContainer).self) { try CBORUnkeyedDecoding($0, $1) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try take((any Decoder).self) { CBORDecoder(core: $0, item: $1) }
    }
}

/// The entries of a map with text keys, asked for in any order.
struct CBORKeyedDecoding<Key: CodingKey>: CBORKeyedDecodingContainer {
    private let place: ContainerPlace<CBORDecoder>
    /// It is never freed.
    private unowned(unsafe) let keys: DecodingKeys<Self>

    init(_ place: ContainerPlace<CBORDecoder>, _ keys: DecodingKeys<Self>) {
        self.place = place
        unsafe self.keys = keys
    }

    private var core: DecodingCore {
        @inline(__always) get { place.handle.core }
    }
    private var item: CBORIndex.Item {
        @inline(__always) get { place.handle.item }
    }

    var codingPath: [any CodingKey] { core.codingPath(of: item) }

    /// Every text key that `Key` knows.
    var allKeys: [Key] { core.isOpen ? unsafe keys.known(core, item) : [] }

    func contains(_ key: Key) -> Bool { value(key) != nil }

    @inline(__always)
    private func value(_ key: Key) -> CBORIndex.Item? {
        var text = key.stringValue
        return text.withUTF8 { unsafe core.find($0, in: item) }
    }

    @inline(__always)
    private func find(_ key: Key) throws -> CBORIndex.Item {
        if let found = value(key) { return found }
        throw missing(key)
    }

    @inline(never)
    private func missing(_ key: any CodingKey) -> any Error {
        DecodingError.keyNotFound(
            key,
            DecodingError.Context(codingPath: codingPath, debugDescription: "the key \(key.stringValue) is missing"))
    }

    func decodeNil(forKey key: Key) throws -> Bool { try core.isNull(try find(key)) }

    @inline(__always)
    func decode<Scalar: CBORScalar>(_ type: Scalar.Type, forKey key: Key) throws -> Scalar {
        try Scalar.read(core, try find(key))
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try core.decode(type, at: try find(key)) }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let found = value(key) else { return nil }
        // A null for a field that is an optional of an optional is the inner nil: the outer one is an absent key.
        if try core.isNull(found), !(type is any CBOROptional.Type) { return nil }
        return try core.decode(type, at: found)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        try CBORDecoder(core: core, item: try find(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try CBORUnkeyedDecoding(core, try find(key))
    }

    func superDecoder() throws -> any Decoder {
        var text = "super"
        guard let found = text.withUTF8({ unsafe core.find($0, in: item) }) else {
            throw missing(CBORPath.Step(stringValue: text))
        }
        return CBORDecoder(core: core, item: found)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { CBORDecoder(core: core, item: try find(key)) }
}

/// A keyed container that is made of a decoder's place and of what is known about its keys.
protocol CBORKeyedDecodingContainer: KeyedDecodingContainerProtocol {
    init(_ place: ContainerPlace<CBORDecoder>, _ keys: DecodingKeys<Self>)
}

/// Makes containers of one type, as ``EncodingKeys`` does.
final class DecodingKeys<Container: CBORKeyedDecodingContainer> {
    @exclusivity(unchecked) private var kept = KeptObjects<CBORDecoder>()
    private let copies = ContainerCopies<KeyedDecodingContainer<Container.Key>>()
    /// The known keys of maps of one entry, by the entry's key.
    @exclusivity(unchecked) private var answers: [AnyObject] = []
    @exclusivity(unchecked) private var answered: [ShortText] = []

    @inline(never)
    func container(_ decoder: CBORDecoder) -> KeyedDecodingContainer<Container.Key> {
        if let object = unsafe kept.unused(for: decoder) { return unsafe copies.copy(of: object) }
        return unsafe kept.new(for: decoder) { KeyedDecodingContainer(Container($0, self)) }
    }

    private func all(_ core: DecodingCore, _ map: CBORIndex.Item) -> [Container.Key] {
        var keys: [Container.Key] = []
        core.index.forEach(in: map, isMap: true) { number, key in
            guard number % 2 == 0, let text = try? core.string(key), let key = Container.Key(stringValue: text) else {
                return
            }
            keys.append(key)
        }
        return keys
    }

    /// The known keys of a map.
    ///
    /// The compiler codes an enum as a map of one entry, and asks for its keys to find the case. These answers are kept, because a new
    /// array for each value costs a third of reading a small event.
    func known(_ core: DecodingCore, _ map: CBORIndex.Item) -> [Container.Key] {
        guard core.index.containers[Int(map.container)].count == 1,
            let text = ShortText(core.index, core.index.first(of: map))
        else { return all(core, map) }
        if let place = unsafe answered.firstIndex(where: { $0.words == text.words }) {
            return unsafe unsafeDowncast(answers[place], to: KeptKeys<Container.Key>.self).keys
        }
        let keys = all(core, map)
        if unsafe answers.count < 64 {
            unsafe answered.append(text)
            unsafe answers.append(KeptKeys(keys))
        }
        return keys
    }
}

/// The known keys of a map.
private final class KeptKeys<Key: CodingKey> {
    let keys: [Key]

    init(_ keys: [Key]) { self.keys = keys }
}

/// A text of up to 23 bytes with its head, and zeros after it.
private struct ShortText {
    private(set) var words: (UInt64, UInt64, UInt64) = (0, 0, 0)

    /// Creates it from an item, or nil if that is no such text.
    init?(_ index: CBORIndex, _ item: CBORIndex.Item) {
        let bytes = unsafe index.base + Int(item.offset)
        guard unsafe 0x60..<0x78 ~= bytes[0] else { return nil }
        let length = index.shortLength(at: Int(item.offset))
        unsafe withUnsafeMutableBytes(of: &words) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: length))
        }
    }
}
