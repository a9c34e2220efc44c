// Unsafe: libzmq's texts end with a NUL and live as long as the frame, which is not changed meanwhile; they are copied at once.

internal import CZMQ
internal import Glibc
public import LoopKeys

/// What libzmq knows of the connection that brought a message. Nothing is looked up unless it is asked for.
///
/// An XPUB's message about a subscription that ended with its connection has none of it.
extension Message {
    /// The key of the sender, by which the authenticator admitted its connection; nil unless the socket that received the message
    /// has ``SocketSecurity/server(secretKey:domain:)``. A sender that has no keys cannot make this up.
    ///
    /// Nothing here says that the key is still allowed: it was when the connection was made.
    public var peerKey: PublicKey? {
        guard isAuthenticated, let text = unsafe zmq_msg_gets(frame, "User-Id") else { return nil }
        let count = unsafe strnlen(text, 41)
        let characters = unsafe UnsafeRawBufferPointer(start: text, count: count).bindMemory(to: UInt8.self)
        return unsafe try? PublicKey(z85: characters.span)
    }

    /// A property that the authenticator gave to the connection (``ZAPVerdict/admit(properties:)``); nil unless the socket that
    /// received the message has ``SocketSecurity/server(secretKey:domain:)``.
    ///
    /// Only a name that the authenticator gives to each connection can be trusted: the peer may have said the others itself.
    public func property(_ name: String) -> String? {
        isAuthenticated && name.hasPrefix("X-") ? text(name) : nil
    }

    /// The address of the sender: an IP address without the port, or `localhost:UID:GID:PID` for `ipc://`; nil for `inproc://`.
    public var peerAddress: String? { text("Peer-Address") }

    /// The descriptor of the connection that brought the message; nil for `inproc://`.
    ///
    /// The connection may have ended since, and the number may be another's. So do not use it before it was duplicated, and the
    /// duplicate was found to be a connection of the socket's endpoint.
    public var peerDescriptor: Int32? {
        let number = unsafe zmq_msg_get(frame, ZMQ_SRCFD)
        return number >= 0 ? number : nil
    }

    private func text(_ name: String) -> String? {
        unsafe zmq_msg_gets(frame, name).map { unsafe String(cString: $0) }
    }
}
