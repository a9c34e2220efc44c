// Unsafe: the document's memory and its index do not change until `close()`, and every handle is checked against its
// serial number.

/// The elements of an array, read one after the other.
struct CBORUnkeyedDecoding: UnkeyedDecodingContainer {
    let core: DecodingCore
    private var next: CBORIndex.Item
    private let container: UInt32
    private var position: UInt32 = 0

    init(core: DecodingCore, item: CBORIndex.Item) throws {
        self.core = core
        (next, _) = try core.open(item, major: 4, [Any].self, "an array")
        container = item.container
    }

    var codingPath: [any CodingKey] {
        // The container is the item that contains the byte before its content.
        guard core.isOpen else { return [] }
        let start = unsafe core.index.containers[Int(container)].start
        return core.codingPath(of: CBORIndex.Item(offset: start - 1, container: container))
    }

    var count: Int? {
        unsafe core.isOpen ? Int(core.index.containers[Int(container)].count) : 0
    }

    var currentIndex: Int { Int(position) }

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
        position += 1
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
        try take((any UnkeyedDecodingContainer).self) { try CBORUnkeyedDecoding(core: $0, item: $1) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try take((any Decoder).self) { CBORDecoder(core: $0, item: $1) }
    }
}
