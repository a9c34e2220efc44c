/// A public key and its secret key.
package struct KeyPair: Sendable {
    /// Makes a pair of random keys. The module has no cryptography: `loopctl` uses libzmq, and tests need none.
    package typealias Generator = () throws -> KeyPair

    /// The half that others know.
    package let publicKey: PublicKey
    /// The half that only its owner knows.
    package let secretKey: SecretKey

    /// Joins two halves without checking that they belong together.
    package init(publicKey: PublicKey, secretKey: SecretKey) {
        self.publicKey = publicKey
        self.secretKey = secretKey
    }
}
