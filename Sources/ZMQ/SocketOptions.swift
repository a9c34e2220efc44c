internal import CZMQ

/// The settings of a socket, which are given at its creation and never changed.
///
/// Some settings are fixed. Routing is mandatory for routers. IPv6 is on unless an endpoint is an address of IPv4, so
/// `tcp://*` binds both families. libzmq's own heartbeats are off: they abort the process when a subscriber connects
/// slowly.
public struct SocketOptions: Sendable {
    /// The largest message a peer may send; a larger one disconnects that peer. At least 1.
    public var messageBytesMax: Int = 2 << 20
    /// The send high-water mark: how many messages may wait for one peer. At least 1.
    public var sendMessagesMax: Int = 1000
    /// The receive high-water mark: how many messages of one peer may wait here. At least 1.
    public var receiveMessagesMax: Int = 1000
    /// How long a peer may take for the handshake.
    public var handshakeLimit: Duration = .seconds(3)
    /// How long to wait for a TCP connection before it is tried again; nil leaves it to the system.
    public var connectLimit: Duration? = .seconds(5)
    /// The pause before a lost connection is tried again.
    public var reconnectDelay: Duration = .milliseconds(100)
    /// The pause doubles with each failure up to this; nil keeps it constant.
    public var reconnectDelayMax: Duration? = .seconds(2)
    /// How long a closed socket continues to send what it has queued. Its context does not end before.
    public var lingerLimit: Duration = .zero
    /// Whether messages are queued only for connections that exist, and not for those that are still being made.
    public var immediate: Bool = false
    /// How a dead host is noticed over TCP; nil leaves it to the system.
    public var keepalive: Keepalive? = Keepalive()
    /// How long a TCP connection may have bytes on their way of which the peer takes none, before it ends; nil leaves it to the
    /// system. A peer that never reads is noticed by this alone.
    public var stalledLimit: Duration?
    /// How many connections may wait to be accepted; the system limits it further (Linux: `net.core.somaxconn`, 4096). TCP drops
    /// those above it, and tries each again after seconds only: all peers of a reducer that was restarted come at once.
    public var backlog: Int = 65_535
    /// Whether a publisher that hears of subscriptions hears of each, and not only of the first to a topic.
    public var reportsEverySubscription: Bool = false
    /// Who may connect, and by which keys.
    public var security: SocketSecurity = .none

    /// TCP keepalive: after `idle` of silence a probe every `interval`, and after `count` unanswered ones the end.
    public struct Keepalive: Sendable, Equatable {
        /// Silence before the first probe; whole seconds, at least 1.
        public var idle: Duration = .seconds(10)
        /// Between probes; whole seconds, at least 1.
        public var interval: Duration = .seconds(5)
        /// Unanswered probes until the connection is given up.
        public var count: Int = 3

        /// Creates keepalive settings; the defaults notice a dead host after 25 s.
        public init(idle: Duration = .seconds(10), interval: Duration = .seconds(5), count: Int = 3) {
            self.idle = idle
            self.interval = interval
            self.count = count
        }
    }

    /// Creates the default options.
    public init() {}

    /// The options of libzmq and the bytes of their values, in the order in which they are set.
    func settings(for kind: SocketKind) -> [(option: Int32, value: [UInt8])] {
        var settings: [(option: Int32, value: [UInt8])] = [
            (ZMQ_LINGER, bytes(of: lingerLimit.wholeMilliseconds)),
            (ZMQ_SNDHWM, bytes(of: Int32(clamping: max(1, sendMessagesMax)))),
            (ZMQ_RCVHWM, bytes(of: Int32(clamping: max(1, receiveMessagesMax)))),
            (ZMQ_HANDSHAKE_IVL, bytes(of: handshakeLimit.wholeMilliseconds)),
            (ZMQ_CONNECT_TIMEOUT, bytes(of: connectLimit?.wholeMilliseconds ?? 0)),
            (ZMQ_RECONNECT_IVL, bytes(of: reconnectDelay.wholeMilliseconds)),
            (ZMQ_RECONNECT_IVL_MAX, bytes(of: reconnectDelayMax?.wholeMilliseconds ?? 0)),
            (ZMQ_IMMEDIATE, bytes(of: Int32(immediate ? 1 : 0))),
            (ZMQ_BACKLOG, bytes(of: Int32(clamping: max(1, backlog)))),
            (ZMQ_MAXMSGSIZE, bytes(of: Int64(max(1, messageBytesMax)) + security.overheadBytes)),
        ]
        if let keepalive {
            settings += [
                (ZMQ_TCP_KEEPALIVE, bytes(of: Int32(1))),
                (ZMQ_TCP_KEEPALIVE_IDLE, bytes(of: keepalive.idle.wholeSeconds)),
                (ZMQ_TCP_KEEPALIVE_INTVL, bytes(of: keepalive.interval.wholeSeconds)),
                (ZMQ_TCP_KEEPALIVE_CNT, bytes(of: Int32(clamping: max(1, keepalive.count)))),
            ]
        }
        if let stalledLimit { settings.append((ZMQ_TCP_MAXRT, bytes(of: stalledLimit.wholeMilliseconds))) }
        settings += security.settings
        if reportsEverySubscription { settings.append((ZMQ_XPUB_VERBOSE, bytes(of: Int32(1)))) }
        if kind == .router { settings.append((ZMQ_ROUTER_MANDATORY, bytes(of: Int32(1)))) }
        return settings
    }
}

/// As libzmq takes them.
func bytes(of number: some FixedWidthInteger & BitwiseCopyable) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number.littleEndian >> ($0 * 8)) }
}

extension Duration {
    /// Rounded up, so that a short wait does not become none.
    fileprivate var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return .max }
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, milliseconds))
    }

    fileprivate var wholeSeconds: Int32 {
        Int32(clamping: max(1, components.seconds + (components.attoseconds > 0 ? 1 : 0)))
    }
}
