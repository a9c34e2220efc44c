public import LoopCore

/// The coder of every node: deterministic CBOR; types that are ``WireCodable`` write and read themselves.
public struct CBORCoder: ValueCoder {
    public init() {}

    public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] { try CBOR.encodePlainly(value) }

    public func withEncoding<Value: Encodable>(of value: Value, _ body: (UnsafeRawBufferPointer) -> Void) throws {
        try CBOR.withEncoding(of: value, body)
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try CBOR.decodePlainly(type, from: bytes[...])
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value {
        try CBOR.decodePlainly(type, from: bytes)
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: UnsafeRawBufferPointer) throws -> Value {
        try CBOR.decodePlainly(type, lent: bytes)
    }
}
