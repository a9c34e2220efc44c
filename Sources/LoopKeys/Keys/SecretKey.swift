/// The half of a key pair that its owner alone knows: 32 bytes, not all 0.
///
/// No text that describes the key shows it. Only ``z85`` and ``bytes`` do, and nothing compares or encodes it.
public struct SecretKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
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

    /// The key itself, as ZeroMQ writes it: for secret files and sockets only.
    public var z85: String { Z85.text(of: bytes) }

    /// Always the same words.
    public var description: String { "a secret key" }
    /// Always the same words.
    public var debugDescription: String { description }
    /// Without children, for `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
