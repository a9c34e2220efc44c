internal import CHTTPD
internal import CLinux
internal import Glibc
internal import LoopLock

/// One libmicrohttpd daemon, and the thread that runs it.
///
/// ```text
/// wait ──▶ wake who is due or was asked for ──▶ MHD_run ──▶ answers ──▶ wait …
///   └── asked to stop ──▶ wake everybody ──▶ MHD_stop_daemon
/// ```
///
/// After its start a daemon is touched by this one thread only; the others leave a word and ring the bell. A daemon with
/// threads of libmicrohttpd's own (0.9.75) is stopped from outside, while they answer, and does not bear it: from the
/// moment on that the daemon is marked as stopped, `MHD_queue_response` says yes and queues nothing, and a malformed
/// request, refused with such an answer, reads through a null pointer (`transmit_error_response_len`). It also ends the
/// process where a connection is suspended at that moment. Here a daemon is stopped between two turns, when it refuses
/// nothing, and everybody has been woken.
final class WebLoop: @unchecked Sendable {
    // Connections belong to libmicrohttpd; here they are only carried.
    private struct Words: @unchecked Sendable {
        var awake: [OpaquePointer] = []
        var isStopping = false
    }

    /// A connection that rests until its time has come.
    private struct Due {
        var time: ContinuousClock.Instant
        var connection: OpaquePointer
    }

    /// What the loops of a server have in common.
    struct Settings {
        var flags: UInt32
        var address: UnsafePointer<sockaddr>
        /// Below zero: this loop opens it.
        var listener: Int32
        var connectionsMax: UInt32
        var idleSeconds: UInt32
    }

    private let handler: any RequestHandler
    private let words = Locked(Words())
    private let bell: Int32
    private var daemon: OpaquePointer?
    private var thread: pthread_t?

    // Only the loop's thread touches these.
    private var resting: Set<OpaquePointer> = []
    /// The latest first, so that the next one is the last.
    private var due: [Due] = []

    /// Opens the daemon; nothing is answered before `start`. Nil: it could not be, and errno may say why.
    init?(_ settings: Settings, handler: any RequestHandler) {
        self.handler = handler
        bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard bell >= 0 else { return nil }
        daemon = loop_httpd_start(
            settings.flags, settings.address, settings.listener, settings.connectionsMax, settings.idleSeconds,
            { loop, connection, url, method, _, piece, pieceBytes, slot in
                // Only a part of a body may be missing.
                guard let connection, let url, let method, let pieceBytes, let slot else { return .NO }
                let loop = WebLoop.of(loop)
                return loop.handler.answer(
                    WebConnection(pointer: connection, loop: loop), url, method, piece, pieceBytes, slot)
            },
            { loop, _, slot, _ in if let slot { WebLoop.of(loop).handler.finish(slot) } },
            { _, _, text in text.map { strlen($0) } ?? 0 },
            Unmanaged.passUnretained(self).toOpaque())
        if daemon == nil { return nil }
    }

    deinit {
        if let daemon { MHD_stop_daemon(daemon) }
        if bell >= 0 { Glibc.close(bell) }
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> WebLoop {
        guard let pointer else { preconditionFailure("libmicrohttpd has lost the loop that it was given") }
        return Unmanaged<WebLoop>.fromOpaque(pointer).takeUnretainedValue()
    }

    var port: UInt16 { UInt16(truncatingIfNeeded: loop_httpd_port(daemon)) }

    /// The socket on which the loop listens.
    var listener: Int32 { loop_httpd_listener(daemon) }

    /// Starts the thread, which keeps the loop until it ends. False: the system has none to give.
    func start() -> Bool {
        let loop = Unmanaged.passRetained(self)
        var handle = pthread_t()
        let result = CurrentThread.withSignalsBlocked {
            pthread_create(
                &handle, nil,
                { loop in
                    if let loop { Unmanaged<WebLoop>.fromOpaque(loop).takeRetainedValue().run() }
                    return nil
                }, loop.toOpaque())
        }
        guard result == 0 else {
            loop.release()
            errno = result
            return false
        }
        thread = handle
        return true
    }

    // MARK: Any thread

    /// Lets a connection that rests go on.
    func wake(_ connection: OpaquePointer) {
        leave { $0.awake.append(connection) }
    }

    /// Ends the loop after its present turn, with all its connections.
    func end() { leave { $0.isStopping = true } }

    /// Waits until the loop has ended. On its own thread it does not: there the loop ends when the answer is given.
    func join() {
        guard let thread else { return }
        self.thread = nil
        if pthread_equal(thread, pthread_self()) != 0 { pthread_detach(thread) } else { pthread_join(thread, nil) }
    }

    private func leave(_ word: (inout Words) -> Void) {
        words.withLock { word(&$0) }
        while eventfd_write(bell, 1) < 0 && errno == EINTR {}
    }

    // MARK: The loop's thread

    /// From now on nothing happens on the connection until it is woken.
    func rest(_ connection: OpaquePointer) {
        MHD_suspend_connection(connection)
        resting.insert(connection)
    }

    /// Lets the connection rest for a while.
    func rest(_ connection: OpaquePointer, for delay: Duration) {
        rest(connection)
        let new = Due(time: ContinuousClock.now + delay, connection: connection)
        due.insert(new, at: due.partitioningIndex { $0.time <= new.time })
    }

    private func run() {
        loop_name_thread("loop-web")
        var watched = [
            pollfd(fd: loop_httpd_epoll(daemon), events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
        ]
        var hasNewSpace = false
        while true {
            poll(&watched, 2, hasNewSpace ? 0 : millisecondsToWait())
            if watched[1].revents != 0 {
                var count: eventfd_t = 0
                while eventfd_read(bell, &count) < 0 && errno == EINTR {}
            }
            let words = words.withLock { words in
                defer { words.awake = [] }
                return words
            }
            if words.isStopping { return stop() }
            for connection in words.awake { resume(connection) }
            resumeThoseDue()
            // A full daemon does not look at its listening socket, and begins to again with its next turn.
            let connections = loop_httpd_connections(daemon)
            MHD_run(daemon)
            hasNewSpace = loop_httpd_connections(daemon) < connections
        }
    }

    private func resume(_ connection: OpaquePointer) {
        if resting.remove(connection) != nil { MHD_resume_connection(connection) }
    }

    private func resumeThoseDue() {
        guard !due.isEmpty else { return }
        let now = ContinuousClock.now
        let first = due.partitioningIndex { $0.time <= now }
        for one in due[first...].reversed() { resume(one.connection) }
        due.removeSubrange(first...)
    }

    /// Until a connection has been idle for too long or a rest is over; -1: until something happens.
    private func millisecondsToWait() -> Int32 {
        var idle: CUnsignedLongLong = 0
        var wait = MHD_get_timeout(daemon, &idle) == .YES ? Int(clamping: idle) : Int.max
        if let next = due.last {
            // Rounded up: nobody is woken before the time.
            let rest = ContinuousClock.now.duration(to: next.time) / .milliseconds(1)
            wait = min(wait, Int(min(max(rest.rounded(.up), 0), 1e9)))
        }
        return wait == .max ? -1 : Int32(clamping: wait)
    }

    private func stop() {
        for connection in resting { MHD_resume_connection(connection) }
        resting = []
        due = []
        MHD_stop_daemon(daemon)
        daemon = nil
    }
}

/// The connection of a request, which may rest before its answer, or between two parts of it.
struct WebConnection: @unchecked Sendable {
    /// What libmicrohttpd calls it.
    let pointer: OpaquePointer
    fileprivate let loop: WebLoop

    /// Nothing more is asked of the desk until `wake`. Called while the desk answers.
    func rest() { loop.rest(pointer) }

    /// The desk is asked again after `delay`. Called while the desk answers.
    func rest(for delay: Duration) { loop.rest(pointer, for: delay) }

    /// Ends the rest. Called on any thread, once for each `rest`; after the server's end it does nothing.
    func wake() { loop.wake(pointer) }
}

extension Array {
    /// Where `belongs` begins to hold, in an array in which it holds for none and then for all.
    fileprivate func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
