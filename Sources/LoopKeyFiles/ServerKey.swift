public import LoopKeys

/// A key pair of the reducer's own, and which of them it is.
public struct ServerKey: Sendable {
    /// 1 for `server`, 2 for `server-2` and so on.
    public let number: Int
    /// What peers know of it.
    public let certificate: Certificate
    /// What the reducer alone knows.
    public let secretKey: SecretKey

    /// Creates a key from its parts.
    public init(number: Int, certificate: Certificate, secretKey: SecretKey) {
        self.number = number
        self.certificate = certificate
        self.secretKey = secretKey
    }
}
