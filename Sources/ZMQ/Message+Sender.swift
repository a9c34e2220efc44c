// Unsafe: libzmq's texts end with a NUL, and live as long as the frame. The frame does not change, and they are copied at once.

internal import CZMQ
internal import Glibc
package import LoopKeys

/// Properties of the connection that brought a message. They are looked up only when they are read.
///
/// An XPUB's message about a subscription that ended with its connection has none of them.
extension Message {
    /// The key of the sender, by which the authenticator admitted its connection. It is nil unless the socket that received the
    /// message has ``SocketSecurity/server(secretKey:domain:)``. A sender without keys cannot forge it.
    ///
    /// The key was allowed when the connection was made. It may not be allowed any more.
    package var peerKey: PublicKey? {
        guard isAuthenticated, let text = unsafe zmq_msg_gets(frame, "User-Id") else { return nil }
        let count = unsafe strnlen(text, 41)
        let characters = unsafe UnsafeRawBufferPointer(start: text, count: count).bindMemory(to: UInt8.self)
        return unsafe try? PublicKey(z85: characters.span)
    }

    /// A property that the authenticator gave to the connection (``ZAPVerdict/admit(properties:)``). It is nil unless the socket
    /// that received the message has ``SocketSecurity/server(secretKey:domain:)``.
    ///
    /// Trust only names that the authenticator gives to each connection. The peer may have set others itself.
    package func property(_ name: String) -> String? {
        isAuthenticated && name.hasPrefix("X-") ? text(name) : nil
    }

    /// The address of the sender: an IP address without the port, `localhost:UID:GID:PID` for `ipc://`, or nil for `inproc://`.
    package var peerAddress: String? { text("Peer-Address") }

    /// The descriptor of the connection that brought the message, or nil for `inproc://`.
    ///
    /// The connection may have ended since, and another file may have the number. So duplicate it before use, and check that the
    /// duplicate is a connection of the socket's endpoint.
    package var peerDescriptor: Int32? {
        let number = unsafe zmq_msg_get(frame, ZMQ_SRCFD)
        return number >= 0 ? number : nil
    }

    private func text(_ name: String) -> String? {
        unsafe zmq_msg_gets(frame, name).map { unsafe String(cString: $0) }
    }
}
