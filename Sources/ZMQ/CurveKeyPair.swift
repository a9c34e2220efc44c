// Unsafe: libzmq writes texts of 41 bytes into arrays of 41 bytes, and reads one, during the call.

internal import CZMQ

/// The key by which a peer is known. It may be shown to everyone.
public struct CurvePublicKey: Sendable, Hashable, CustomStringConvertible {
    let key: CurveKey

    /// Reads the 40 characters of Z85.
    /// - Throws: ``CurveKeyError``.
    public init(_ text: String) throws(CurveKeyError) { key = try CurveKey(text) }

    /// - Parameter bytes: 32 of them.
    /// - Throws: ``CurveKeyError``.
    public init(bytes: [UInt8]) throws(CurveKeyError) { key = try CurveKey(bytes: bytes) }

    init(_ key: CurveKey) { self.key = key }

    /// The 32 bytes.
    public var bytes: [UInt8] { key.bytes }
    /// The 40 characters of Z85, which include `#` and `$`: quote them in a shell.
    public var description: String { key.text }
}

/// The key by which its owner proves to be who it says. Printing and dumping do not show it.
public struct CurveSecretKey: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    let key: CurveKey

    fileprivate init(_ key: CurveKey) { self.key = key }

    /// Reads the 40 characters of Z85.
    /// - Throws: ``CurveKeyError``, which does not repeat them.
    public init(_ text: String) throws(CurveKeyError) { key = try CurveKey(text) }

    /// - Parameter bytes: 32 of them.
    /// - Throws: ``CurveKeyError``.
    public init(bytes: [UInt8]) throws(CurveKeyError) { key = try CurveKey(bytes: bytes) }

    /// The secret as 40 characters of Z85: for a file that only its owner can read.
    public var secretText: String { key.text }
    /// The secret as 32 bytes.
    public var secretBytes: [UInt8] { key.bytes }

    /// Always the same words.
    public var description: String { "a secret key" }
    /// Always the same words.
    public var debugDescription: String { description }
    /// Has no parts.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A public and a secret key that belong together.
public struct CurveKeyPair: Sendable, Equatable {
    /// What others know.
    public let publicKey: CurvePublicKey
    /// What only the owner knows.
    public let secretKey: CurveSecretKey

    /// Whether the loaded libzmq has CURVE. Debian's has.
    public static var isSupported: Bool { unsafe zmq_has("curve") == 1 }

    /// Makes a new random pair.
    /// - Throws: ``ZMQError`` if libzmq was built without CURVE.
    public init() throws(ZMQError) {
        var publicText = Self.emptyText
        var secretText = Self.emptyText
        let result = unsafe loopzmq_keypair(&publicText, &secretText)
        if result < 0 { throw ZMQError(.makeKeys, code: -result) }
        publicKey = CurvePublicKey(Self.key(publicText))
        secretKey = CurveSecretKey(Self.key(secretText))
    }

    /// Computes the public key that belongs to a secret one.
    /// - Throws: ``ZMQError`` if libzmq was built without CURVE.
    public init(of secretKey: CurveSecretKey) throws(ZMQError) {
        var publicText = Self.emptyText
        let result = unsafe loopzmq_public_key(&publicText, secretKey.secretText)
        if result < 0 { throw ZMQError(.makeKeys, code: -result) }
        publicKey = CurvePublicKey(Self.key(publicText))
        self.secretKey = secretKey
    }

    /// For 40 characters and a NUL.
    private static var emptyText: [CChar] { [CChar](repeating: 0, count: CurveKey.characterCount + 1) }

    private static func key(_ text: [CChar]) -> CurveKey {
        let characters = text.dropLast().map { UInt8(bitPattern: $0) }
        guard let key = CurveKey(z85: characters.span) else {
            preconditionFailure("libzmq wrote a key that is not Z85")
        }
        return key
    }
}
