// Unsafe: libzmq writes into an array of the size that it is given, and only during the call.

internal import CZMQ
internal import Glibc
package import LoopKeys

/// Which peers may connect to a socket, and by which keys. With keys all bytes are encrypted (CURVE), and both sides know each
/// other's key.
///
/// A socket with keys does not talk to one without keys: the handshake fails. It uses `tcp://` and `ipc://` only.
package enum SocketSecurity: Sendable {
    /// Every peer that reaches the socket may connect. Bytes are not encrypted.
    case none
    /// Peers may connect if they know the public key of this socket and the authenticator of the context admits them
    /// (``ZMQContext/init(ioThreads:authenticator:)``).
    ///
    /// The domain names the socket to the authenticator: 1…255 bytes without a NUL. Without one, libzmq would admit every key.
    case server(secretKey: SecretKey, domain: String)
    /// The peer must have the secret key of `serverKey`, and `keys` identify this socket to it.
    case client(serverKey: PublicKey, keys: KeyPair)

    var isServer: Bool {
        if case .server = self { true } else { false }
    }

    private var isNone: Bool {
        if case .none = self { true } else { false }
    }

    /// The bytes that encryption adds to a message: a name, a nonce, a checksum and flags. libzmq's limit includes them. (ZeroMQ
    /// RFC 26)
    var overheadBytes: Int64 { isNone ? 0 : 33 }

    /// The options of libzmq and the bytes of their values, in the order in which they are set.
    var settings: [(option: Int32, value: [UInt8])] {
        switch self {
        case .none: []
        case .server(let secretKey, let domain):
            [
                (ZMQ_CURVE_SERVER, ZMQ.bytes(of: Int32(1))), (ZMQ_CURVE_SECRETKEY, secretKey.bytes),
                (ZMQ_ZAP_DOMAIN, Array(domain.utf8)), (ZMQ_ZAP_ENFORCE_DOMAIN, ZMQ.bytes(of: Int32(1))),
            ]
        case .client(let serverKey, let keys):
            [
                (ZMQ_CURVE_SERVERKEY, serverKey.bytes), (ZMQ_CURVE_PUBLICKEY, keys.publicKey.bytes),
                (ZMQ_CURVE_SECRETKEY, keys.secretKey.bytes),
            ]
        }
    }

    /// - Throws: ``ZMQError`` if a socket of the context cannot be as secure as this.
    func check(possibleIn context: ZMQContext) throws(ZMQError) {
        if isNone { return }
        guard KeyPair.isSupported else { throw ZMQError(.secure, code: ENOTSUP) }
        guard case .server(_, let domain) = self else { return }
        precondition(
            (1...255).contains(domain.utf8.count) && !domain.utf8.contains(0),
            "a domain has 1…255 bytes without a NUL, not '\(domain)'")
        guard context.hasAuthenticator else { throw ZMQError(.secure, code: EACCES) }
    }

    /// Reads the settings back.
    /// - Throws: ``ZMQError`` if libzmq has other values, or does not say.
    func check(appliedTo socket: UnsafeMutableRawPointer) throws(ZMQError) {
        if isNone { return }
        for (option, value) in settings + [(ZMQ_MECHANISM, ZMQ.bytes(of: ZMQ_CURVE))] {
            // libzmq returns a text with a NUL at its end.
            let expected = option == ZMQ_ZAP_DOMAIN ? value + [0] : value
            var found = [UInt8](repeating: 0xFF, count: expected.count)
            var size = found.count
            let result = unsafe loopzmq_get(socket, option, &found, &size)
            guard result >= 0, size == expected.count, found == expected else { throw ZMQError(.secure, code: EPROTO) }
        }
    }

    /// - Throws: ``ZMQError`` if libzmq would not require keys at this endpoint.
    func check(_ operation: ZMQError.Operation, _ endpoint: String) throws(ZMQError) {
        if isNone || endpoint.hasPrefix("tcp://") || endpoint.hasPrefix("ipc://") { return }
        throw ZMQError(operation, code: ENOTSUP, endpoint: endpoint)
    }
}
