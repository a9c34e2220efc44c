// Unsafe: the socket and the message are open as long as their owners live.

internal import CZMQ
internal import Glibc

extension Socket {
    /// A receive returns after this many malformed messages in a row, so that their sender cannot block the turn.
    private static var malformedInARowMax: Int { 64 }

    /// Takes the next message if there is one, and never waits. The socket must not be a router.
    ///
    /// - Returns: false if there is none now, or if only malformed ones came. Then the poll set shows the rest.
    /// - Throws: ``ZMQError`` if sockets of this kind do not receive.
    package mutating func receive(into message: inout Message) throws(ZMQError) -> Bool {
        precondition(kind != .router, "a router's messages have a sender; use receive(from:into:)")
        message.isAuthenticated = isAuthenticating
        for _ in 0..<Self.malformedInARowMax {
            guard try unsafe receiveFrame(message.frame) else { return false }
            if !message.hasMore { return true }
            try unsafe dropRest(message.frame)
        }
        return false
    }

    /// Takes the next message of a router, if there is one, with the routing ID of its sender. Never waits.
    ///
    /// - Returns: false if there is none now, or if only malformed ones came. Then the poll set shows the rest.
    /// - Throws: ``ZMQError``.
    package mutating func receive(
        from peer: inout RoutingID, into message: inout Message
    ) throws(ZMQError) -> Bool {
        precondition(kind == .router, "only a router knows its senders, this is a \(kind) socket")
        message.isAuthenticated = isAuthenticating
        for _ in 0..<Self.malformedInARowMax {
            guard try unsafe receiveFrame(message.frame) else { return false }
            guard message.hasMore else {
                malformedMessages += 1
                continue
            }
            unsafe peer.assign(message.frame)
            guard try unsafe receiveFrame(message.frame) else {
                malformedMessages += 1
                continue
            }
            if !message.hasMore { return true }
            try unsafe dropRest(message.frame)
        }
        return false
    }

    private func receiveFrame(_ frame: UnsafeMutablePointer<zmq_msg_t>) throws(ZMQError) -> Bool {
        let result = unsafe loopzmq_receive(frame, raw)
        handle.hidden = [.readable, .writable]
        if result >= 0 { return true }
        if result == -EAGAIN {
            // libzmq has looked at its queue. The descriptor shows messages that arrive from now on.
            handle.hidden = .writable
            return false
        }
        throw ZMQError(.receive, code: -result)
    }

    /// Drops and counts the rest of a multipart message, which libzmq delivers as a whole or not at all.
    private mutating func dropRest(_ frame: UnsafeMutablePointer<zmq_msg_t>) throws(ZMQError) {
        malformedMessages += 1
        while unsafe zmq_msg_more(frame) != 0 {
            guard try unsafe receiveFrame(frame) else { return }
        }
    }
}
