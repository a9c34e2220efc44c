internal import CZMQ

/// An event of a socket's connection, as libzmq's monitor reports it. The descriptors of ended connections are reused.
package enum SocketEvent: Sendable, Equatable {
    /// A connection to the endpoint was made. The handshake follows.
    case connected
    /// The connection is tried again after a pause.
    case connectRetried
    /// The socket listens.
    case listening(descriptor: Int32)
    /// A peer has connected. The handshake follows.
    case accepted(descriptor: Int32)
    /// A peer could not be accepted, as when the process has too many descriptors open.
    case acceptFailed
    /// The socket does not listen any more.
    case closed(descriptor: Int32)
    /// A connection has ended after its handshake, or during it.
    case disconnected(descriptor: Int32)
    /// The last event, because the socket is closed.
    case monitorStopped
    /// A handshake is complete, so the peer may send and receive. libzmq does not say on which connection.
    case handshakeSucceeded
    /// A handshake has failed.
    case handshakeFailed(HandshakeFailure)
    /// Another event: a connection that could not be made at once, a failed close, or one of a newer libzmq.
    case other

    /// The reason why a handshake has failed.
    package enum HandshakeFailure: Sendable, Equatable {
        /// The connection ended, or the time was over, with the `errno`. A client with the wrong server key sees this.
        case noDetail(code: Int32)
        /// One side has keys, and the other has none.
        case mechanismMismatch
        /// The peer sent something invalid, with the `ZMQ_PROTOCOL_ERROR_…`.
        case protocolError(code: Int32)
        /// The authenticator has not admitted the key. The status is 300 for later, 400 for refused, 500 for a failure.
        case notAdmitted(status: Int32)
    }

    /// Reads the frames: number and value in 2 and 4 bytes, the lowest byte first, then the endpoint.
    init?(_ frames: [[UInt8]]) {
        guard frames.count == 2, frames[0].count == 6 else { return nil }
        func number<Number: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>) -> Number {
            bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
        }
        let event: UInt16 = number(frames[0][..<2])
        let value: Int32 = number(frames[0][2...])
        self.init(event, value)
    }

    init(_ number: UInt16, _ value: Int32) {
        switch Int32(number) {
        case ZMQ_EVENT_CONNECTED: self = .connected
        case ZMQ_EVENT_CONNECT_RETRIED: self = .connectRetried
        case ZMQ_EVENT_LISTENING: self = .listening(descriptor: value)
        case ZMQ_EVENT_ACCEPTED: self = .accepted(descriptor: value)
        case ZMQ_EVENT_ACCEPT_FAILED: self = .acceptFailed
        case ZMQ_EVENT_CLOSED: self = .closed(descriptor: value)
        case ZMQ_EVENT_DISCONNECTED: self = .disconnected(descriptor: value)
        case ZMQ_EVENT_MONITOR_STOPPED: self = .monitorStopped
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: self = .handshakeSucceeded
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: self = .handshakeFailed(.noDetail(code: value))
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL where value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH:
            self = .handshakeFailed(.mechanismMismatch)
        case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: self = .handshakeFailed(.protocolError(code: value))
        case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: self = .handshakeFailed(.notAdmitted(status: value))
        default: self = .other
        }
    }
}
