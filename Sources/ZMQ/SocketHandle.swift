// Unsafe: the pointer is closed once, and is nil afterwards. libzmq lets another thread end a socket's events.

internal import CZMQ
internal import Glibc
internal import Linux
internal import Synchronization

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
    /// The socket that is told of events.
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
        for (option, value) in options.settings(for: kind) {
            let result = unsafe loopzmq_set(created, option, value, value.count)
            if result < 0 { throw ZMQError(.setOption, code: -result) }
        }
        try unsafe security.check(appliedTo: created)
    }

    /// Who may connect to the endpoints that are bound from now on.
    func use(_ security: SocketSecurity) throws(ZMQError) {
        try security.check(possibleIn: context)
        for (option, value) in security.settings {
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

    // MARK: Monitor

    /// Events are told to a reader from here on.
    func willTell(_ reader: SocketHandle) { monitor = reader }

    /// Events are not told any more. A socket that closes has events too, and libzmq waits for ever for a reader that is gone: so
    /// the reader stays until this was called.
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
            // After so long libzmq is waiting for space, and hears that it should stop when it has some. What is unread is lost.
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

/// Ends the events of a socket, on a thread of its own.
@safe private final class MonitorStop: Sendable {
    nonisolated(unsafe) private let socket: UnsafeMutableRawPointer
    private let done = Atomic(false)

    var isDone: Bool { done.load(ordering: .acquiring) }

    /// - Parameter socket: one that stays open until this is done.
    init(of socket: UnsafeMutableRawPointer) { unsafe self.socket = socket }

    /// - Returns: false if there is no thread for it.
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
