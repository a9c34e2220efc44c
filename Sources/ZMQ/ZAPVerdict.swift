/// What becomes of a connection whose key is known.
public enum ZAPVerdict: Sendable, Equatable {
    /// It is made, and each of its messages carries the key and these properties (``Message/property(_:)``).
    ///
    /// A name begins with `X-` and has up to 255 letters, digits, `-`, `_`, `.` and `+`; a value up to 65,535 bytes and no NUL. Otherwise the peer is
    /// told that the authenticator failed. A peer may send properties of its own under names that are not given here.
    case admit(properties: [String: String] = [:])
    /// The key is not allowed. The peer is told so, and libzmq does not connect it again.
    case refuse
    /// Ask again later, as when the list of keys is not read yet. The peer hears nothing until its time for the handshake is over,
    /// and connects again.
    case later
}

/// Decides who may connect to the sockets of a context: see ``ZMQContext/init(ioThreads:socketsMax:authenticator:)``.
public typealias ZAPAuthenticator = @Sendable (ZAPRequest) throws -> ZAPVerdict
