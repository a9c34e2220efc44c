/// The half of a key pair that others know: 32 bytes of Curve25519, not all 0.
package struct PublicKey: Hashable, Sendable, CustomStringConvertible {
    private let key: KeyBytes

    /// Creates a key, or nil unless there are 32 bytes and not all of them are 0.
    package init?(bytes: [UInt8]) {
        guard let key = KeyBytes(bytes) else { return nil }
        self.key = key
    }

    /// Reads a key as ZeroMQ writes it: 40 characters of Z85.
    /// - Throws: ``KeyFlaw``.
    package init(z85 text: some StringProtocol) throws(KeyFlaw) { key = try KeyBytes(z85: text) }

    /// Reads a key from 40 characters of Z85 that are not a text yet.
    /// - Throws: ``KeyFlaw``.
    package init(z85 characters: Span<UInt8>) throws(KeyFlaw) { key = try KeyBytes(z85: characters) }

    /// Its 32 bytes.
    package var bytes: [UInt8] { key.bytes }

    /// The key as ZeroMQ writes it: 40 characters of Z85, which include `#` and `$`. Quote them in a shell.
    package var z85: String { key.z85 }

    /// The key as 40 characters of Z85.
    package var description: String { z85 }
}
