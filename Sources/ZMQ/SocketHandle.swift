// Unsafe: the pointer is closed once, and is nil afterwards.

internal import CZMQ

/// The libzmq socket behind a ``Socket`` and the poll sets that watch it: nil once the socket was closed, so that a
/// poll set can outlive its sockets without touching a dead pointer. Of one thread at a time, like the socket.
@safe final class SocketHandle {
    let context: ZMQContext
    /// The pointer while the socket is open.
    private(set) var raw: UnsafeMutableRawPointer?
    /// The pointer as it was created, for the ``Socket`` that is open as long as it can be used.
    let created: UnsafeMutableRawPointer
    var isClosed: Bool { unsafe raw == nil }
    /// Readable when libzmq has something to tell the socket; the same for life.
    let descriptor: Int32
    /// What was set at its creation.
    let security: SocketSecurity
    /// What the socket may be ready for although its descriptor does not show it: every call may take what it shows.
    var hidden: Readiness = [.readable, .writable]
    private var bound: [BoundEndpoint] = []

    init(_ kind: SocketKind, in context: ZMQContext, options: SocketOptions) throws(ZMQError) {
        self.context = context
        security = options.security
        try security.check(possibleIn: context)
        unsafe created = try context.makeSocket(kind)
        unsafe raw = created
        var number: Int32 = -1
        var size = MemoryLayout<Int32>.size
        let result = unsafe loopzmq_get(created, ZMQ_FD, &number, &size)
        descriptor = number
        if result < 0 { throw ZMQError(.createSocket, code: -result) }
        for (option, value) in options.settings(for: kind) {
            let result = unsafe loopzmq_set(created, option, value, value.count)
            if result < 0 { throw ZMQError(.setOption, code: -result) }
        }
        try unsafe security.check(appliedTo: created)
    }

    /// What the socket can do now. Takes whatever its descriptor shows.
    /// - Throws: once the context was terminated.
    func readiness() throws(ZMQError) -> Readiness {
        guard let raw = unsafe raw else { return [] }
        var events: Int32 = 0
        var size = MemoryLayout<Int32>.size
        let result = unsafe loopzmq_get(raw, ZMQ_EVENTS, &events, &size)
        if result < 0 { throw ZMQError(.poll, code: -result) }
        // What it is ready for now it stays ready for, and its descriptor tells of the rest.
        hidden = Readiness(rawValue: Int16(truncatingIfNeeded: events))
        return hidden
    }

    /// Remembers what is to be cleared away with the socket.
    func didBind(_ endpoint: String) {
        bound.append(BoundEndpoint(endpoint))
    }

    /// Clears away what an endpoint left that is bound no more.
    func didUnbind(_ endpoint: String) {
        for gone in bound where gone.endpoint == endpoint { gone.removeFile() }
        bound.removeAll { $0.endpoint == endpoint }
    }

    func close() {
        guard let raw = unsafe raw else { return }
        unsafe self.raw = nil
        for endpoint in bound { unsafe endpoint.release(raw) }
        _ = unsafe loopzmq_close(raw)
    }

    deinit { close() }
}
