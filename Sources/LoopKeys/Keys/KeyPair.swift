/// A public key and its secret key.
public struct KeyPair: Sendable {
    /// Makes a pair of random keys. The module has no cryptography: `loopctl` uses libzmq, and tests need none.
    public typealias Generator = () throws -> KeyPair

    /// The half that others know.
    public let publicKey: PublicKey
    /// The half that only its owner knows.
    public let secretKey: SecretKey

    /// Joins two halves without checking that they belong together.
    public init(publicKey: PublicKey, secretKey: SecretKey) {
        self.publicKey = publicKey
        self.secretKey = secretKey
    }
}
