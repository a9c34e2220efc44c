/// The decision about a connection with a known key.
package enum ZAPVerdict: Sendable, Equatable {
    /// The connection is admitted, and each of its messages carries the key and these properties (``Message/property(_:)``).
    ///
    /// A name begins with `X-` and has up to 255 letters, digits, `-`, `_`, `.` and `+`. A value has up to 65,535 bytes and no NUL.
    /// Otherwise the peer learns that the authenticator failed. A peer may send its own properties under names that are not given
    /// here.
    case admit(properties: [String: String] = [:])
    /// The key is not allowed. The peer learns that, and its libzmq does not connect again.
    case refuse
    /// No decision yet, for example because the list of keys is not read. The peer gets no answer until its handshake limit is
    /// over, and then connects again.
    case later
}

/// Decides which peers may connect to the sockets of a context: see ``ZMQContext/init(ioThreads:authenticator:)``.
package typealias ZAPAuthenticator = @Sendable (ZAPRequest) throws -> ZAPVerdict
