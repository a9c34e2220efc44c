// Unsafe: the frame is freed once, in `deinit`; its bytes are valid only until the call returns.

internal import CZMQ

/// A frame of libzmq that is reused from one receive to the next. Its bytes stay valid until then.
///
/// A small frame keeps a larger block of the connection in memory. So copy the bytes that are needed after the turn with
/// ``copy()``.
@safe package struct Message: ~Copyable {
    /// Allocated on the heap, because a message must not move in memory.
    let frame: UnsafeMutablePointer<zmq_msg_t>

    /// Whether the socket that received the message knows the keys of its peers.
    var isAuthenticated = false

    /// An empty message.
    package init() {
        unsafe frame = .allocate(capacity: 1)
        unsafe zmq_msg_init(frame)
    }

    deinit {
        unsafe zmq_msg_close(frame)
        unsafe frame.deallocate()
    }

    /// The number of bytes.
    package var count: Int { unsafe zmq_msg_size(frame) }

    /// Whether another frame of this multipart message follows.
    var hasMore: Bool { unsafe zmq_msg_more(frame) != 0 }

    /// The bytes as a new array.
    package borrowing func copy() -> [UInt8] {
        unsafe [UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(frame), count: zmq_msg_size(frame)))
    }
}
