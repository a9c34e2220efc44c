/// The half of a key pair that only its owner knows: 32 bytes, not all 0.
///
/// No description of the key shows it. Only ``z85`` and ``bytes`` do, and nothing compares or encodes it.
package struct SecretKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let key: KeyBytes

    /// Creates a key, or nil unless there are 32 bytes and not all of them are 0.
    package init?(bytes: [UInt8]) {
        guard let key = KeyBytes(bytes) else { return nil }
        self.key = key
    }

    /// Reads a key as ZeroMQ writes it: 40 characters of Z85.
    /// - Throws: ``KeyFlaw``.
    package init(z85 text: some StringProtocol) throws(KeyFlaw) { key = try KeyBytes(z85: text) }

    /// Its 32 bytes, for sockets only.
    package var bytes: [UInt8] { key.bytes }

    /// The key as ZeroMQ writes it, for secret files and sockets only.
    package var z85: String { key.z85 }

    /// A text that does not depend on the key.
    package var description: String { "a secret key" }
    /// A text that does not depend on the key.
    package var debugDescription: String { description }
    /// A mirror without children, for `dump`.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
