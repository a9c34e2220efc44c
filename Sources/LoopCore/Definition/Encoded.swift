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
