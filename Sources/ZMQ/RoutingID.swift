// Unsafe: the bytes of a frame are copied before the frame is used again.

internal import CZMQ

/// The name that a router gave to one connection. It serves only to address an answer.
///
/// A peer that connects again gets another one. So the body of a message must identify the peer.
package struct RoutingID: Sendable, Hashable, CustomStringConvertible {
    /// 5 bytes for Loop's peers; up to 255 for a foreign peer that chose its own.
    package private(set) var bytes: [UInt8]

    /// Creates a routing ID from its bytes. Without bytes, it is empty, to receive into.
    package init(_ bytes: [UInt8] = []) {
        self.bytes = bytes
    }

    /// Takes the bytes of an identity frame. The array is reused if it is not shared.
    mutating func assign(_ frame: UnsafeMutablePointer<zmq_msg_t>) {
        bytes.removeAll(keepingCapacity: true)
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: zmq_msg_data(frame), count: zmq_msg_size(frame)))
    }

    /// In hexadecimal digits, for logs.
    package var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
