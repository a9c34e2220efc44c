/// A value as an older definition has encoded it, to be read as whatever type it had then.
public struct Encoded: Sendable {
    /// The encoded value.
    public let bytes: [UInt8]
    private let coder: any ValueCoder

    package init(_ bytes: [UInt8], coder: any ValueCoder) {
        self.bytes = bytes
        self.coder = coder
    }

    /// Reads the value as one of `type`.
    /// - Throws: what the coder throws where the bytes are not of that type.
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try coder.decode(type, from: bytes) }
}
