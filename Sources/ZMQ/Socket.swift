internal import CZMQ
internal import Glibc

/// A libzmq socket: of one thread at a time, with a lock where it is handed on, and closed when it goes out of scope.
///
/// An `inproc://` name is free as soon as its socket is closed; a port a moment later, and for certain when the
/// context has ended; the file of an `ipc://` path is removed. No call waits; ``PollSet`` does. Messages are single frames: what a foreign peer sends in several is dropped and
/// counted in ``malformedMessages``, so that it cannot shift the frames of others.
public struct Socket: ~Copyable {
    let handle: SocketHandle
    let raw: UnsafeMutableRawPointer
    public let kind: SocketKind
    /// How many messages were dropped because they had the wrong number of frames.
    public internal(set) var malformedMessages: UInt64 = 0

    /// - Throws: when there are too many sockets, or the context was terminated.
    public init(
        _ kind: SocketKind, in context: ZMQContext, options: SocketOptions = SocketOptions()
    ) throws(ZMQError) {
        handle = try SocketHandle(kind, in: context, options: options)
        raw = handle.created
        self.kind = kind
    }

    deinit { handle.close() }

    // MARK: Endpoints

    /// Binds, and returns the endpoint with its wildcards resolved: `tcp://127.0.0.1:*` gives the port that was free.
    ///
    /// An `ipc://` path somebody listens at is refused like a port that is taken (libzmq by itself would take it over);
    /// the socket file that a killed process left behind is replaced.
    @discardableResult
    public mutating func bind(_ endpoint: String) throws(ZMQError) -> String {
        if BoundEndpoint.isTaken(endpoint) { throw ZMQError(.bind, code: EADDRINUSE, endpoint: endpoint) }
        try check(loopzmq_bind(raw, endpoint), .bind, endpoint)
        handle.didBind(endpoint)
        return try lastEndpoint(endpoint)
    }

    /// Stops listening at an endpoint as ``bind(_:)`` returned it. Connections that stand stay.
    public mutating func unbind(_ endpoint: String) throws(ZMQError) {
        try check(loopzmq_unbind(raw, endpoint), .unbind, endpoint)
        handle.didUnbind(endpoint)
    }

    /// Dials an endpoint, now and whenever the connection is lost. Nobody has to be there yet.
    public mutating func connect(_ endpoint: String) throws(ZMQError) {
        try check(loopzmq_connect(raw, endpoint), .connect, endpoint)
    }

    /// Hangs up, and drops what is queued for that peer.
    public mutating func disconnect(_ endpoint: String) throws(ZMQError) {
        try check(loopzmq_disconnect(raw, endpoint), .disconnect, endpoint)
    }

    private func lastEndpoint(_ endpoint: String) throws(ZMQError) -> String {
        var size = 1024
        var result: Int32 = 0
        let text = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            result = loopzmq_get(raw, ZMQ_LAST_ENDPOINT, buffer.baseAddress, &size)
            count = result < 0 ? 0 : max(0, size - 1)
        }
        try check(result, .bind, endpoint)
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Subscriptions

    /// Asks for every message that starts with these bytes. At most 245 bytes: longer ones meet a fault of libzmq 4.3.4.
    public mutating func subscribe(_ prefix: [UInt8]) throws(ZMQError) {
        precondition(prefix.count <= 245, "a topic prefix has at most 245 bytes, not \(prefix.count)")
        try check(loopzmq_set(raw, ZMQ_SUBSCRIBE, prefix, prefix.count), .subscribe)
    }

    /// Takes back one ``subscribe(_:)`` of the same prefix.
    public mutating func unsubscribe(_ prefix: [UInt8]) throws(ZMQError) {
        try check(loopzmq_set(raw, ZMQ_UNSUBSCRIBE, prefix, prefix.count), .unsubscribe)
    }

    private func check(_ result: Int32, _ operation: ZMQError.Operation, _ endpoint: String? = nil) throws(ZMQError) {
        handle.hidden = [.readable, .writable]
        if result < 0 { throw ZMQError(operation, code: -result, endpoint: endpoint) }
    }
}
