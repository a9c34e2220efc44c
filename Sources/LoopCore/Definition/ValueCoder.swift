/// The coder of values that cross a process or reach a journal. It is deterministic: equal values have equal bytes in every
/// process.
@usableFromInline package protocol ValueCoder: Sendable {
    /// Encodes a value into a new array.
    /// - Throws: an error if the value cannot be encoded, such as one that throws in `encode(to:)`.
    func encode<Value: Encodable>(_ value: Value) throws -> [UInt8]
    /// Lends the encoded bytes of a value, without a copy if the coder can.
    /// - Throws: an error if the value cannot be encoded; `body` is then not called.
    func withEncoding<Value: Encodable>(of value: Value, _ body: (Span<UInt8>) -> Void) throws
    /// Decodes a value from all of the bytes.
    /// - Throws: an error if the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
    /// Decodes a part of a message, without a copy if the coder can.
    /// - Throws: an error if the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value
    /// Decodes lent bytes, without a copy if the coder can.
    /// - Throws: an error if the bytes are not a value of the type.
    func decode<Value: Decodable>(_ type: Value.Type, from bytes: Span<UInt8>) throws -> Value
}

extension ValueCoder {
    /// Encodes the value into an array and lends that. A coder may replace it by a better way.
    /// - Throws: what `encode` throws; `body` is then not called.
    @usableFromInline package func withEncoding<Value: Encodable>(of value: Value, _ body: (Span<UInt8>) -> Void) throws
    {
        let bytes = try encode(value)
        body(bytes.span)
    }

    /// Copies the bytes into an array and decodes that. A coder may replace it by a better way.
    /// - Throws: an error if the bytes are not a value of the type.
    @usableFromInline package func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws
        -> Value
    {
        try decode(type, from: Array(bytes))
    }

    /// Copies the bytes into an array and decodes that. A coder may replace it by a better way.
    /// - Throws: an error if the bytes are not a value of the type.
    @usableFromInline package func decode<Value: Decodable>(_ type: Value.Type, from bytes: Span<UInt8>) throws -> Value
    {
        try decode(type, from: Array(bytes))
    }
}

/// A value that an older definition encoded. It can be decoded as whatever type it had then.
public struct Encoded: Sendable {
    /// The encoded value.
    public let bytes: [UInt8]
    private let coder: any ValueCoder

    package init(_ bytes: [UInt8], coder: any ValueCoder) {
        self.bytes = bytes
        self.coder = coder
    }

    /// Decodes the value as `type`.
    /// - Throws: what the coder throws if the bytes are not of that type.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try coder.decode(type, from: bytes) }
}
