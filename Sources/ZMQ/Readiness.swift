internal import CZMQ

/// The operations that a socket or descriptor can do now without waiting.
package struct Readiness: OptionSet, Sendable, Hashable {
    /// The bits, as libzmq's `ZMQ_POLL…` constants number them.
    package let rawValue: Int16

    /// Creates a set from its bits.
    package init(rawValue: Int16) {
        self.rawValue = rawValue
    }

    /// A message, or bytes, can be received.
    package static var readable: Readiness { Readiness(rawValue: Int16(ZMQ_POLLIN)) }
    /// A message, or bytes, can be sent.
    package static var writable: Readiness { Readiness(rawValue: Int16(ZMQ_POLLOUT)) }
    /// The descriptor has failed or was hung up. Never set for sockets.
    package static var failed: Readiness { Readiness(rawValue: Int16(ZMQ_POLLERR)) }
}
