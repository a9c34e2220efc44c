// Unsafe: libzmq writes texts of 41 bytes into arrays of 41 bytes, and reads one, during the call.

internal import CZMQ
internal import Glibc
package import LoopKeys

/// Makes key pairs with libzmq.
extension KeyPair {
    /// Whether the loaded libzmq supports CURVE. Debian's does.
    package static var isSupported: Bool { unsafe zmq_has("curve") == 1 }

    /// Makes a new random pair.
    /// - Throws: ``ZMQError`` if libzmq was built without CURVE.
    package init() throws(ZMQError) {
        var publicText = Self.emptyText
        var secretText = Self.emptyText
        let result = unsafe loopzmq_keypair(&publicText, &secretText)
        if result < 0 { throw ZMQError(.makeKeys, code: -result) }
        self.init(publicKey: try Self.publicKey(publicText), secretKey: try Self.secretKey(secretText))
    }

    /// Computes the public key that belongs to a secret one.
    /// - Throws: ``ZMQError`` if libzmq was built without CURVE.
    package init(of secretKey: SecretKey) throws(ZMQError) {
        var publicText = Self.emptyText
        let result = unsafe loopzmq_public_key(&publicText, secretKey.z85)
        if result < 0 { throw ZMQError(.makeKeys, code: -result) }
        self.init(publicKey: try Self.publicKey(publicText), secretKey: secretKey)
    }

    /// Space for 40 characters and a NUL.
    private static var emptyText: [CChar] { [CChar](repeating: 0, count: 41) }

    private static func publicKey(_ text: [CChar]) throws(ZMQError) -> PublicKey {
        guard let key = try? PublicKey(z85: characters(text)) else { throw ZMQError(.makeKeys, code: EPROTO) }
        return key
    }

    private static func secretKey(_ text: [CChar]) throws(ZMQError) -> SecretKey {
        guard let key = try? SecretKey(z85: characters(text)) else { throw ZMQError(.makeKeys, code: EPROTO) }
        return key
    }

    private static func characters(_ text: [CChar]) -> String {
        String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
