// Unsafe: the socket is open as long as its owner lives, and libzmq copies what it is passed.

internal import CZMQ
internal import Glibc

/// The result of sending a message. Only `sent` means that libzmq has taken it.
package enum SendResult: Sendable, Equatable {
    /// libzmq has a copy. That proves nothing about its arrival.
    case sent
    /// The queue is full, or there is no peer to queue for. Wait for ``Readiness/writable``.
    case wouldBlock
    /// The router has no connection with this routing ID any more.
    case unreachable
}

extension Socket {
    /// Queues a copy of the bytes as one message. Never waits.
    /// - Throws: ``ZMQError`` if sockets of this kind do not send.
    package mutating func send(_ bytes: [UInt8]) throws(ZMQError) -> SendResult {
        try unsafe result(loopzmq_send(raw, bytes, bytes.count, 0))
    }

    /// Queues a copy of the bytes for one peer of a router. Never waits.
    /// - Throws: ``ZMQError``.
    package mutating func send(_ bytes: [UInt8], to peer: RoutingID) throws(ZMQError) -> SendResult {
        precondition(kind == .router, "only a router sends to a routing ID, this is a \(kind) socket")
        // The first frame chooses the peer. It can meet a full queue or a missing peer; the second frame cannot.
        let chosen = try unsafe result(loopzmq_send(raw, peer.bytes, peer.bytes.count, 1))
        guard chosen == .sent else { return chosen }
        return try unsafe result(loopzmq_send(raw, bytes, bytes.count, 0))
    }

    private func result(_ code: Int32) throws(ZMQError) -> SendResult {
        handle.hidden = [.readable, .writable]
        if code >= 0 { return .sent }
        switch -code {
        case EAGAIN: return .wouldBlock
        case EHOSTUNREACH: return .unreachable
        default: throw ZMQError(.send, code: -code)
        }
    }
}
