/// What a type's `init(from:)` is given: an item of the document.
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
    func decode(_ type: Bool.Type) throws -> Bool { try core.bool(item) }
    func decode(_ type: String.Type) throws -> String { try core.string(item) }
    func decode(_ type: Double.Type) throws -> Double { try core.double(item) }
    func decode(_ type: Float.Type) throws -> Float { try core.float(item) }
    func decode(_ type: Int.Type) throws -> Int { try core.integer(type, item) }
    func decode(_ type: Int8.Type) throws -> Int8 { try core.integer(type, item) }
    func decode(_ type: Int16.Type) throws -> Int16 { try core.integer(type, item) }
    func decode(_ type: Int32.Type) throws -> Int32 { try core.integer(type, item) }
    func decode(_ type: Int64.Type) throws -> Int64 { try core.integer(type, item) }
    func decode(_ type: UInt.Type) throws -> UInt { try core.integer(type, item) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try core.integer(type, item) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try core.integer(type, item) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try core.integer(type, item) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try core.integer(type, item) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try core.decode(type, at: item) }
}
