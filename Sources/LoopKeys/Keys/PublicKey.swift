/// The half of a key pair that others know: 32 bytes of Curve25519, not all 0.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    /// Its 32 bytes.
    public let bytes: [UInt8]

    /// Nil unless there are 32 bytes, and not all of them 0.
    public init?(bytes: [UInt8]) {
        guard KeyFormat.isKey(bytes) else { return nil }
        self.bytes = bytes
    }

    /// Reads a key as ZeroMQ writes it: 40 characters of Z85.
    /// - Throws: ``KeyFlaw``.
    public init(z85 text: some StringProtocol) throws(KeyFlaw) { bytes = try KeyFormat.bytes(of: text) }

    /// The key as ZeroMQ writes it: 40 characters of Z85.
    public var z85: String { Z85.text(of: bytes) }

    /// The same as ``z85``.
    public var description: String { z85 }
}
