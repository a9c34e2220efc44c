// Unsafe: the frame is freed once, in `deinit`; its bytes are lent only until the call returns.

internal import CZMQ

/// A frame as libzmq holds it, to be reused from one receive to the next: its bytes stay valid until then.
///
/// A small frame keeps a larger block of the connection in memory. So copy what is needed after the turn with
/// ``copy()``.
@safe public struct Message: ~Copyable {
    /// On the heap, because libzmq asks that a message does not move.
    let frame: UnsafeMutablePointer<zmq_msg_t>

    /// Whether the socket that received it knows the keys of its peers.
    var isAuthenticated = false

    /// An empty message.
    public init() {
        unsafe frame = .allocate(capacity: 1)
        unsafe zmq_msg_init(frame)
    }

    deinit {
        unsafe zmq_msg_close(frame)
        unsafe frame.deallocate()
    }

    /// How many bytes it holds.
    public var count: Int { unsafe zmq_msg_size(frame) }

    /// Whether a further frame of the same multipart message follows.
    var hasMore: Bool { unsafe zmq_msg_more(frame) != 0 }

    /// Lends the bytes as a span, which cannot outlive the call.
    /// - Throws: what `body` throws.
    public borrowing func withSpan<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: zmq_msg_data(frame), count: zmq_msg_size(frame)).bytes)
    }

    /// The bytes as an array of their own.
    public borrowing func copy() -> [UInt8] {
        unsafe [UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(frame), count: zmq_msg_size(frame)))
    }
}
