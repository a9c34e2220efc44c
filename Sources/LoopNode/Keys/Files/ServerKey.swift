public import LoopKeys

/// One of the reducer's own key pairs, with its number.
public struct ServerKey: Sendable {
    /// The number: 1 for `server`, 2 for `server-2` and so on.
    public let number: Int
    /// The part that peers know.
    public let certificate: Certificate
    /// The part that only the reducer knows.
    public let secretKey: SecretKey

    /// Creates a key from its parts.
    public init(number: Int, certificate: Certificate, secretKey: SecretKey) {
        self.number = number
        self.certificate = certificate
        self.secretKey = secretKey
    }
}
