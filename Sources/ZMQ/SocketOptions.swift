internal import CZMQ

/// The settings of a socket, which are given at its creation and never changed.
///
/// Some settings are no options, because they never change. A TCP connection that is not made within 5 s is tried again, and
/// keepalive detects a dead host after 25 s. Routing is mandatory for routers. IPv6 is on unless an endpoint has an IPv4 address,
/// and `tcp://*` binds both families. libzmq's own heartbeats are off, because they abort the process when a subscriber connects
/// slowly.
package struct SocketOptions: Sendable {
    /// The size of the largest message that a peer may send, in bytes, at least 1. A larger one disconnects that peer.
    package var messageBytesMax: Int = 2 << 20
    /// The send high-water mark: how many messages may wait for one peer. At least 1.
    package var sendMessagesMax: Int = 1000
    /// The receive high-water mark: how many messages of one peer may wait here. At least 1.
    package var receiveMessagesMax: Int = 1000
    /// How long a peer may take for the handshake.
    package var handshakeLimit: Duration = .seconds(3)
    /// The pause before a lost connection is tried again.
    package var reconnectDelay: Duration = .milliseconds(100)
    /// The pause doubles with each failure up to this. Nil keeps it constant.
    package var reconnectDelayMax: Duration? = .seconds(2)
    /// How long a closed socket continues to send its queued messages. Its context does not end before that.
    package var lingerLimit: Duration = .zero
    /// Whether messages are queued only for existing connections, and not for those that are being made.
    package var immediate: Bool = false
    /// How long a peer may accept none of a TCP connection's unacknowledged bytes before the connection ends. Nil leaves it to the
    /// system. Nothing else detects a peer that never reads.
    package var stalledLimit: Duration?
    /// Whether a publisher receives every subscription, and not only the first of each topic.
    package var reportsEverySubscription: Bool = false
    /// The peers that may connect, and the keys.
    package var security: SocketSecurity = .none

    /// Creates the default options.
    package init() {}

    /// The options of libzmq and the bytes of their values, in the order in which they are set.
    func settings(for kind: SocketKind) -> [(option: Int32, value: [UInt8])] {
        var settings: [(option: Int32, value: [UInt8])] = [
            (ZMQ_LINGER, bytes(of: lingerLimit.millisecondsRoundedUp)),
            (ZMQ_SNDHWM, bytes(of: Int32(clamping: max(1, sendMessagesMax)))),
            (ZMQ_RCVHWM, bytes(of: Int32(clamping: max(1, receiveMessagesMax)))),
            (ZMQ_HANDSHAKE_IVL, bytes(of: handshakeLimit.millisecondsRoundedUp)),
            (ZMQ_CONNECT_TIMEOUT, bytes(of: Int32(5000))),
            (ZMQ_RECONNECT_IVL, bytes(of: reconnectDelay.millisecondsRoundedUp)),
            (ZMQ_RECONNECT_IVL_MAX, bytes(of: reconnectDelayMax?.millisecondsRoundedUp ?? 0)),
            (ZMQ_IMMEDIATE, bytes(of: Int32(immediate ? 1 : 0))),
            // The system limits it further (Linux: `net.core.somaxconn`, 4096). TCP drops connections above it, and tries each again
            // only after seconds. All peers of a restarted reducer come at once.
            (ZMQ_BACKLOG, bytes(of: Int32(65_535))),
            (ZMQ_MAXMSGSIZE, bytes(of: Int64(max(1, messageBytesMax)) + security.overheadBytes)),
            // After 10 s of silence, a probe is sent every 5 s. After 3 unanswered probes the connection ends.
            (ZMQ_TCP_KEEPALIVE, bytes(of: Int32(1))), (ZMQ_TCP_KEEPALIVE_IDLE, bytes(of: Int32(10))),
            (ZMQ_TCP_KEEPALIVE_INTVL, bytes(of: Int32(5))), (ZMQ_TCP_KEEPALIVE_CNT, bytes(of: Int32(3))),
        ]
        if let stalledLimit { settings.append((ZMQ_TCP_MAXRT, bytes(of: stalledLimit.millisecondsRoundedUp))) }
        settings += security.settings
        if reportsEverySubscription { settings.append((ZMQ_XPUB_VERBOSE, bytes(of: Int32(1)))) }
        if kind == .router { settings.append((ZMQ_ROUTER_MANDATORY, bytes(of: Int32(1)))) }
        return settings
    }
}

/// The bytes of a number as libzmq takes them.
func bytes(of number: some FixedWidthInteger & BitwiseCopyable) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number.littleEndian >> ($0 * 8)) }
}

extension Duration {
    /// Whole milliseconds, rounded up so that a short wait does not become none.
    fileprivate var millisecondsRoundedUp: Int32 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return .max }
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, milliseconds))
    }
}
