internal import CZMQ

/// The operations that a socket or descriptor can do now without waiting.
public struct Readiness: OptionSet, Sendable, Hashable {
    /// The bits, as libzmq's `ZMQ_POLL…` constants number them.
    public let rawValue: Int16

    /// Creates a set from its bits.
    public init(rawValue: Int16) {
        self.rawValue = rawValue
    }

    /// A message, or bytes, can be received.
    public static var readable: Readiness { Readiness(rawValue: Int16(ZMQ_POLLIN)) }
    /// A message, or bytes, can be sent.
    public static var writable: Readiness { Readiness(rawValue: Int16(ZMQ_POLLOUT)) }
    /// The descriptor has failed or was hung up. Never set for sockets.
    public static var failed: Readiness { Readiness(rawValue: Int16(ZMQ_POLLERR)) }
}
