import CBOR
import LoopCore

/// The coder of every node: deterministic CBOR.
package struct CBORCoder: ValueCoder {
    /// Creates the coder. It has no state: all coders are equal.
    package init() {}

    /// Encodes a value deterministically: equal values have equal bytes in every process.
    /// - Throws: `WireError.tooDeep` for a value nested deeper than the default limit of `CBORLimits`; `WireError.refused`
    ///   for an error of the value's own `encode(to:)`.
    package func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] { try CBOR.encode(value) }

    /// Encodes a value and lends the bytes without a copy. The bytes are valid only during the call.
    /// - Throws: what ``encode(_:)`` throws; `body` is then not called.
    package func withEncoding<Value: Encodable>(of value: Value, _ body: (Span<UInt8>) -> Void) throws {
        try CBOR.withEncoding(of: value, body)
    }

    /// Decodes the value that all of the bytes encode. Any well-formed CBOR is accepted, deterministic or not.
    /// - Throws: `WireError` if the bytes are not well-formed, exceed the default limits, or do not encode a `Value`.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try CBOR.decode(type, from: bytes)
    }

    /// Decodes the value that all of the slice encodes, without a copy. Offsets in errors count from the slice's start.
    /// - Throws: `WireError` if the bytes are not well-formed, exceed the default limits, or do not encode a `Value`.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value {
        try CBOR.decode(type, from: bytes)
    }

    /// Decodes the value that all of the lent bytes encode. The value keeps no reference to them.
    /// - Throws: `WireError` if the bytes are not well-formed, exceed the default limits, or do not encode a `Value`.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: Span<UInt8>) throws -> Value {
        try CBOR.decode(type, lent: bytes)
    }
}
