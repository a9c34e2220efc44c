public import CBOR
public import LoopCore

/// The coder of every node: deterministic CBOR; types that are ``WireCodable`` write and read themselves.
public struct CBORCoder: ValueCoder {
    public init() {}

    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] { try CBOR.encode(value) }

    public func withEncoding<Value: Encodable>(of value: Value, _ body: (UnsafeRawBufferPointer) -> Void) throws {
        try CBOR.withEncoding(of: value, body)
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try CBOR.decode(type, from: bytes)
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value {
        try CBOR.decode(type, from: bytes)
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws -> Value {
        try CBOR.decode(type, lent: bytes)
    }
}

extension CBOR {
    /// Appends the deterministic encoding of a value to what is written already; appends nothing if it throws.
    ///
    /// - Throws: as `encode(_:limits:userInfo:)` does.
    public static func encode<T: Encodable>(
        _ value: T, into writer: inout ByteWriter, limits: CBORLimits = .default,
        userInfo: [CodingUserInfoKey: any Sendable]? = nil
    ) throws(WireError) {
        try withEncoding(of: value, limits: limits, userInfo: userInfo) { writer.append(raw: $0) }
    }
}
