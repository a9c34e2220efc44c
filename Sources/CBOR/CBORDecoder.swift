/// The decoder that a type's `init(from:)` gets: an item of the document.
struct CBORDecoder: Decoder {
    let core: DecodingCore
    let item: CBORIndex.Item

    var codingPath: [any CodingKey] { core.codingPath(of: item) }

    var userInfo: [CodingUserInfoKey: Any] { core.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try core.keyedContainer(type, item)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try CBORUnkeyedDecoding(core: core, item: item)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        CBORSingleDecoding(core: core, item: item)
    }
}

/// An item read as one value.
struct CBORSingleDecoding: SingleValueDecodingContainer {
    let core: DecodingCore
    let item: CBORIndex.Item

    var codingPath: [any CodingKey] { core.codingPath(of: item) }

    func decodeNil() -> Bool { (try? core.isNull(item)) ?? false }

    @inline(__always)
    func decode<Scalar: CBORScalar>(_ type: Scalar.Type) throws -> Scalar { try Scalar.read(core, item) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try core.decode(type, at: item) }
}
