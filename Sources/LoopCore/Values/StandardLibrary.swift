/// The standard library's methods of keyed containers. Generic code finds them, where other code finds ours.
@usableFromInline
enum StandardLibrary {
    @inlinable
    static func encodeNil<C: KeyedEncodingContainerProtocol>(_ key: C.Key, _ container: inout C) throws {
        try container.encodeNil(forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: Bool, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: String, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: Double, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: Float, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: Int, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: Int8, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: Int16, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: Int32, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: Int64, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: UInt, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: UInt8, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: UInt16, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: UInt32, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol>(_ value: UInt64, _ key: C.Key, _ container: inout C) throws {
        try container.encode(value, forKey: key)
    }

    @inlinable
    static func encode<C: KeyedEncodingContainerProtocol, T: Encodable>(
        _ value: T, _ key: C.Key, _ container: inout C
    ) throws { try container.encode(value, forKey: key) }

    @inlinable
    static func nestedContainer<C: KeyedEncodingContainerProtocol, Inner: CodingKey>(
        _ type: Inner.Type, _ key: C.Key, _ container: inout C
    ) -> KeyedEncodingContainer<Inner> { container.nestedContainer(keyedBy: type, forKey: key) }
}

extension StandardLibrary {
    @inlinable
    static func allKeys<C: KeyedDecodingContainerProtocol>(_ container: C) -> [C.Key] { container.allKeys }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: Bool.Type, _ key: C.Key, _ container: C
    ) throws -> Bool { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: String.Type, _ key: C.Key, _ container: C
    ) throws -> String { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: Double.Type, _ key: C.Key, _ container: C
    ) throws -> Double { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: Int.Type, _ key: C.Key, _ container: C
    ) throws -> Int { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: Int8.Type, _ key: C.Key, _ container: C
    ) throws -> Int8 { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: Int16.Type, _ key: C.Key, _ container: C
    ) throws -> Int16 { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: Int32.Type, _ key: C.Key, _ container: C
    ) throws -> Int32 { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: Int64.Type, _ key: C.Key, _ container: C
    ) throws -> Int64 { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: UInt.Type, _ key: C.Key, _ container: C
    ) throws -> UInt { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: UInt8.Type, _ key: C.Key, _ container: C
    ) throws -> UInt8 { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: UInt16.Type, _ key: C.Key, _ container: C
    ) throws -> UInt16 { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: UInt32.Type, _ key: C.Key, _ container: C
    ) throws -> UInt32 { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol>(
        _ type: UInt64.Type, _ key: C.Key, _ container: C
    ) throws -> UInt64 { try container.decode(type, forKey: key) }

    @inlinable
    static func decode<C: KeyedDecodingContainerProtocol, T: Decodable>(
        _ type: T.Type, _ key: C.Key, _ container: C
    ) throws -> T { try container.decode(type, forKey: key) }

    @inlinable
    static func nestedContainer<C: KeyedDecodingContainerProtocol, Inner: CodingKey>(
        _ type: Inner.Type, _ key: C.Key, _ container: C
    ) throws -> KeyedDecodingContainer<Inner> { try container.nestedContainer(keyedBy: type, forKey: key) }
}
