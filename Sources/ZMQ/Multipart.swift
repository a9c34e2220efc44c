// Unsafe: the caller keeps the socket open during the call, and libzmq copies what it is passed.

internal import CZMQ
internal import Glibc

/// Messages of several frames, with which libzmq itself talks to its application. All others are single frames (``Socket``).
enum Multipart {
    /// More frames than libzmq sends. Frames beyond it are dropped.
    private static let framesMax = 16

    /// Takes the next message.
    /// - Parameters:
    ///   - message: receives one frame after another.
    ///   - waits: whether to wait for a message, until the context ends.
    /// - Returns: the frames, or nil if there is no message now.
    /// - Throws: ``ZMQError``.
    static func receive(
        from socket: UnsafeMutableRawPointer, by message: borrowing Message, waits: Bool
    ) throws(ZMQError) -> [[UInt8]]? {
        var frames: [[UInt8]] = []
        repeat {
            let result =
                waits ? unsafe loopzmq_await(message.frame, socket) : unsafe loopzmq_receive(message.frame, socket)
            if result == -EAGAIN { return nil }
            if result < 0 { throw ZMQError(.receive, code: -result) }
            if frames.count < framesMax { frames.append(message.copy()) }
        } while message.hasMore
        return frames
    }

    /// Queues a message; never waits.
    /// - Throws: ``ZMQError`` if there is no space.
    static func send(_ frames: [[UInt8]], to socket: UnsafeMutableRawPointer) throws(ZMQError) {
        for (index, frame) in frames.enumerated() {
            let result = unsafe loopzmq_send(socket, frame, frame.count, index + 1 < frames.count ? 1 : 0)
            if result < 0 { throw ZMQError(.send, code: -result) }
        }
    }
}
