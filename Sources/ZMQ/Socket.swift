// Unsafe: the pointer is valid until `deinit`, which closes the handle, and libzmq copies what it is passed.

internal import CLinux
internal import CZMQ
internal import Glibc
internal import Linux

/// A libzmq socket. One thread at a time may use it, and a lock is needed to pass it to another thread. It is closed when it goes
/// out of scope.
///
/// An `inproc://` name is free as soon as its socket is closed. A port is free a moment later, at the latest when the context has
/// ended. The file of an `ipc://` path is removed. No call waits; ``PollSet`` does. Messages are single frames. A multipart message
/// of a foreign peer is dropped and counted in ``malformedMessages``, so that it cannot shift the frames of other peers.
@safe package struct Socket: ~Copyable {
    let handle: SocketHandle
    let raw: UnsafeMutableRawPointer
    /// The messaging pattern, which decides how the socket may be used.
    package let kind: SocketKind
    /// Whether the socket requires keys of its peers.
    let isAuthenticating: Bool
    /// The number of messages that were dropped because they had the wrong number of frames.
    package internal(set) var malformedMessages: UInt64 = 0

    /// Creates a socket that is neither bound nor connected.
    /// - Parameter options: settings for the life of the socket.
    /// - Throws: ``ZMQError`` if there are too many sockets or files, or if the security options
    ///   cannot be applied.
    package init(
        _ kind: SocketKind, in context: ZMQContext, options: SocketOptions = SocketOptions()
    ) throws(ZMQError) {
        handle = try SocketHandle(kind, in: context, options: options)
        unsafe raw = handle.created
        self.kind = kind
        isAuthenticating = options.security.isServer
    }

    deinit { handle.close() }

    // MARK: Endpoints

    /// Binds, and returns the endpoint with its wildcards resolved: `tcp://127.0.0.1:*` becomes the address with a free port.
    ///
    /// If another process listens at an `ipc://` path, the path is refused as a used port is. libzmq alone would take it over. The
    /// socket file of a killed process is replaced. Only this user may connect to an `ipc://` path. An abstract name,
    /// `ipc://@NAME`, has no owner.
    /// - Throws: ``ZMQError`` if the endpoint is malformed or taken, or if the system refuses it. ``ZMQError/hint`` says what to
    ///   do.
    @discardableResult
    package mutating func bind(_ endpoint: String) throws(ZMQError) -> String {
        try handle.security.check(.bind, endpoint)
        try setFamily(for: endpoint, .bind)
        if BoundEndpoint.isTaken(endpoint) { throw ZMQError(.bind, code: EADDRINUSE, endpoint: endpoint) }
        if let path = BoundEndpoint.path(of: endpoint) {
            try bind(endpoint, path: path)
        } else {
            try unsafe check(loopzmq_bind(raw, endpoint), .bind, endpoint)
        }
        handle.didBind(endpoint)
        return try lastEndpoint(endpoint)
    }

    /// Allows IPv6 only for other hosts than IPv4 addresses. Otherwise libzmq would name an IPv4 address `[::ffff:127.0.0.1]`.
    private func setFamily(for endpoint: String, _ operation: ZMQError.Operation) throws(ZMQError) {
        guard endpoint.hasPrefix("tcp://"), let colon = endpoint.lastIndex(of: ":") else { return }
        let host = endpoint[..<colon].dropFirst("tcp://".count)
        var isIPv6: Int32 = HostAddress(String(host)) == nil ? 1 : 0
        try unsafe check(loopzmq_set(raw, ZMQ_IPV6, &isIPv6, MemoryLayout<Int32>.size), operation, endpoint)
    }

    /// Makes the listening socket here and passes it to libzmq, because libzmq would make a socket file that every user may connect
    /// to.
    private func bind(_ endpoint: String, path: String) throws(ZMQError) {
        var listener = unsafe loop_unix_listen(path)
        try check(listener, .bind, endpoint)
        let size = MemoryLayout<Int32>.size
        var result = unsafe loopzmq_set(raw, ZMQ_USE_FD, &listener, size)
        if result >= 0 { result = unsafe loopzmq_bind(raw, endpoint) }
        var none: Int32 = -1
        _ = unsafe loopzmq_set(raw, ZMQ_USE_FD, &none, size)
        if result < 0 {
            // libzmq takes over a listener only after everything else has succeeded.
            close(listener)
            unsafe unlink(path)
            try check(result, .bind, endpoint)
        }
    }

    /// Binds with another key or domain than the socket was made with. They apply to this endpoint alone, because libzmq keeps the
    /// settings with which an endpoint was bound.
    /// - Parameters:
    ///   - endpoint: the endpoint to listen on.
    ///   - security: a server with keys, like the socket itself.
    /// - Throws: ``ZMQError`` as ``bind(_:)`` does, and if libzmq has not applied the settings.
    @discardableResult
    package mutating func bind(_ endpoint: String, security: SocketSecurity) throws(ZMQError) -> String {
        precondition(isAuthenticating && security.isServer, "only a server with keys has another key")
        try handle.use(security)
        defer { try? handle.use(handle.security) }
        return try bind(endpoint)
    }

    /// Stops listening at an endpoint that ``bind(_:)`` returned. Existing connections stay.
    /// - Throws: ``ZMQError`` if the socket is not bound there.
    package mutating func unbind(_ endpoint: String) throws(ZMQError) {
        try unsafe check(loopzmq_unbind(raw, endpoint), .unbind, endpoint)
        handle.didUnbind(endpoint)
    }

    /// Connects to an endpoint, now and whenever the connection is lost. The peer may bind later.
    /// - Throws: ``ZMQError`` if the endpoint is malformed, but not if no peer is there.
    package mutating func connect(_ endpoint: String) throws(ZMQError) {
        try handle.security.check(.connect, endpoint)
        try setFamily(for: endpoint, .connect)
        try unsafe check(loopzmq_connect(raw, endpoint), .connect, endpoint)
    }

    /// Ends the connection to an endpoint, and drops the messages that are queued for it.
    /// - Throws: ``ZMQError`` if the socket was not connected there.
    package mutating func disconnect(_ endpoint: String) throws(ZMQError) {
        try unsafe check(loopzmq_disconnect(raw, endpoint), .disconnect, endpoint)
    }

    private func lastEndpoint(_ endpoint: String) throws(ZMQError) -> String {
        var size = 1024
        var result: Int32 = 0
        let text = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            result = unsafe loopzmq_get(raw, ZMQ_LAST_ENDPOINT, buffer.baseAddress, &size)
            count = result < 0 ? 0 : max(0, size - 1)
        }
        try check(result, .bind, endpoint)
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Subscriptions

    /// Subscribes to every message that starts with these bytes. A prefix has at most 245 bytes, because libzmq 4.3.4 has an error
    /// with longer ones.
    /// - Throws: ``ZMQError`` if the socket is not a `sub`.
    package mutating func subscribe(_ prefix: [UInt8]) throws(ZMQError) {
        precondition(prefix.count <= 245, "a topic prefix has at most 245 bytes, not \(prefix.count)")
        try unsafe check(loopzmq_set(raw, ZMQ_SUBSCRIBE, prefix, prefix.count), .subscribe)
    }

    private func check(_ result: Int32, _ operation: ZMQError.Operation, _ endpoint: String? = nil) throws(ZMQError) {
        handle.hidden = [.readable, .writable]
        if result < 0 { throw ZMQError(operation, code: -result, endpoint: endpoint) }
    }
}
