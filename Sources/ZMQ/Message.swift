internal import CZMQ

/// A frame as libzmq holds it, to be reused from one receive to the next: its bytes stay valid until then.
///
/// A small frame keeps a larger block of the connection in memory. So copy what is needed after the turn with
/// ``copy()``.
public struct Message: ~Copyable {
    /// On the heap, because libzmq asks that a message does not move.
    let frame: UnsafeMutablePointer<zmq_msg_t>

    /// An empty message.
    public init() {
        frame = .allocate(capacity: 1)
        zmq_msg_init(frame)
    }

    deinit {
        zmq_msg_close(frame)
        frame.deallocate()
    }

    /// How many bytes it holds.
    public var count: Int { zmq_msg_size(frame) }

    /// Whether a further frame of the same multipart message follows.
    var hasMore: Bool { zmq_msg_more(frame) != 0 }

    /// Lends the bytes; the pointer must not outlive the call.
    /// - Throws: what `body` throws.
    public borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: zmq_msg_data(frame), count: zmq_msg_size(frame)))
    }

    /// Lends the bytes as a span, which cannot outlive the call.
    /// - Throws: what `body` throws.
    public borrowing func withSpan<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: zmq_msg_data(frame), count: zmq_msg_size(frame)).bytes)
    }

    /// The bytes as an array of their own.
    public borrowing func copy() -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(frame), count: zmq_msg_size(frame)))
    }
}
