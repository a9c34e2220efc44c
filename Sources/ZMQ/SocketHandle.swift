// Unsafe: the pointer is closed once, and is nil afterwards. libzmq lets another thread end the events of a socket.

internal import CZMQ
internal import Glibc
internal import Linux
internal import Synchronization

/// The libzmq socket behind a ``Socket`` and the poll sets that watch it. Its pointer is nil after the close, so that a poll set
/// can outlive its sockets. One thread at a time may use it, as for the socket.
@safe final class SocketHandle {
    let context: ZMQContext
    /// The pointer while the socket is open, or nil.
    private(set) var raw: UnsafeMutableRawPointer?
    /// The pointer at creation. The ``Socket`` uses it, because it is open as long as it can be used.
    let created: UnsafeMutableRawPointer
    var isClosed: Bool { unsafe raw == nil }
    /// Readable when libzmq has events for the socket. It does not change during the life of the socket.
    let descriptor: Int32
    /// The security settings at creation.
    let security: SocketSecurity
    /// The operations that may be possible although the descriptor does not show it. Every call may clear the descriptor.
    var hidden: Readiness = [.readable, .writable]
    private var bound: [BoundEndpoint] = []
    /// The socket that receives the events.
    private var monitor: SocketHandle?

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
        try apply(options.settings(for: kind), security)
    }

    /// Sets the security of the endpoints that are bound from now on.
    func use(_ security: SocketSecurity) throws(ZMQError) {
        try security.check(possibleIn: context)
        try apply(security.settings, security)
    }

    /// - Parameter security: the settings of security, which are read back.
    private func apply(
        _ settings: [(option: Int32, value: [UInt8])], _ security: SocketSecurity
    ) throws(ZMQError) {
        for (option, value) in settings {
            let result = unsafe loopzmq_set(created, option, value, value.count)
            if result < 0 { throw ZMQError(.setOption, code: -result) }
        }
        try unsafe security.check(appliedTo: created)
    }

    /// The operations that are possible now. This clears the descriptor.
    /// - Throws: ``ZMQError``.
    func readiness() throws(ZMQError) -> Readiness {
        guard let raw = unsafe raw else { return [] }
        var events: Int32 = 0
        var size = MemoryLayout<Int32>.size
        let result = unsafe loopzmq_get(raw, ZMQ_EVENTS, &events, &size)
        if result < 0 { throw ZMQError(.poll, code: -result) }
        // It stays ready for these operations, and the descriptor shows all others.
        hidden = Readiness(rawValue: Int16(truncatingIfNeeded: events))
        return hidden
    }

    /// Notes an endpoint that must be cleared away with the socket.
    func didBind(_ endpoint: String) {
        bound.append(BoundEndpoint(endpoint))
    }

    /// Clears away what an endpoint has left behind after its unbind.
    func didUnbind(_ endpoint: String) {
        for gone in bound where gone.endpoint == endpoint { gone.removeFile() }
        bound.removeAll { $0.endpoint == endpoint }
    }

    // MARK: Monitor

    /// Notes the reader that receives events from here on.
    func willTell(_ reader: SocketHandle) { monitor = reader }

    /// Ends the events. A closing socket has events too, and libzmq waits for ever for a reader that is gone. So the reader must
    /// stay until this has returned.
    func stopTelling(_ reader: SocketHandle) { if monitor === reader { stopMonitor() } }

    private func stopMonitor() {
        guard let monitor, let raw = unsafe raw else { return }
        self.monitor = nil
        let stop = unsafe MonitorStop(of: raw)
        guard stop.start(), let reader = unsafe monitor.raw else { return stop.run() }
        let message = Message()
        var waits = 0
        while !stop.isDone {
            usleep(50)
            waits += 1
            // After this time libzmq is waiting for space. It stops as soon as it has some, so drop the unread events.
            guard waits > 4000 else { continue }
            while unsafe (try? Multipart.receive(from: reader, by: message, waits: false)) != nil {}
        }
    }

    func close() {
        stopMonitor()
        guard let raw = unsafe raw else { return }
        unsafe self.raw = nil
        for endpoint in bound { unsafe endpoint.release(raw) }
        _ = unsafe loopzmq_close(raw)
    }

    deinit { close() }
}

/// Ends the events of a socket, on its own thread.
@safe private final class MonitorStop: Sendable {
    nonisolated(unsafe) private let socket: UnsafeMutableRawPointer
    private let done = Atomic(false)

    var isDone: Bool { done.load(ordering: .acquiring) }

    /// - Parameter socket: stays open until this is done.
    init(of socket: UnsafeMutableRawPointer) { unsafe self.socket = socket }

    /// - Returns: false if the system has no thread for it.
    func start() -> Bool {
        do {
            try SystemThread.start("loop-monitor", stackBytes: 128 << 10) { self.run() }
            return true
        } catch {
            return false
        }
    }

    func run() {
        _ = unsafe loopzmq_monitor(socket, nil)
        done.store(true, ordering: .releasing)
    }
}
