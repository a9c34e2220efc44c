/// A public key and its secret key.
public struct KeyPair: Sendable {
    /// Makes a pair of random keys. The module has no cryptography, so libzmq does it for `loopctl`, and tests do without.
    public typealias Generator = () throws -> KeyPair

    /// The half that others know.
    public let publicKey: PublicKey
    /// The half that its owner alone knows.
    public let secretKey: SecretKey

    /// Joins two halves. That they belong together is not checked.
    public init(publicKey: PublicKey, secretKey: SecretKey) {
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    /// The same from bytes; nil unless each half has 32, and not all of them 0.
    public init?(publicKey: [UInt8], secretKey: [UInt8]) {
        guard let publicKey = PublicKey(bytes: publicKey), let secretKey = SecretKey(bytes: secretKey) else {
            return nil
        }
        self.init(publicKey: publicKey, secretKey: secretKey)
    }
}
