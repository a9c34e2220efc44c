// Unsafe: a daemon, its connections and its slots belong to libmicrohttpd, which calls back only until it is stopped: the
// loop's thread keeps the loop until then.

internal import CHTTPD
internal import Glibc
internal import Linux
internal import LoopCollections

/// One libmicrohttpd daemon, and the thread that runs it.
///
/// ```text
/// wait ──▶ wake connections that are due or queued ──▶ MHD_run ──▶ answers ──▶ wait …
///   └── asked to stop ──▶ wake all waiters ──▶ MHD_stop_daemon
/// ```
///
/// After its start, only this one thread uses a daemon. Other threads leave a message and ring the bell.
///
/// The daemon is stopped between two turns. It then refuses nothing, and all resting connections have been woken. A daemon with
/// threads of its own (libmicrohttpd 0.9.75) is stopped from outside, while they answer, and crashes. When it is marked as stopped,
/// `MHD_queue_response` reports success and queues nothing. Refusing a malformed request then reads through a null pointer
/// (`transmit_error_response_len`). It also ends the process if a connection is suspended at that moment.
@safe final class HTTPLoop: @unchecked Sendable {
    // Connections belong to libmicrohttpd. Here they are only passed on.
    @safe private struct Words: @unchecked Sendable {
        var awake: [OpaquePointer] = unsafe []
        var isStopping = false
    }

    /// A connection that rests until its time has come.
    @safe private struct Due {
        var time: ContinuousClock.Instant
        var connection: OpaquePointer
    }

    /// The common settings of a server's loops.
    @safe struct Settings {
        var flags: UInt32
        var address: UnsafePointer<sockaddr>
        /// The socket to listen on, or nil if this loop opens it.
        var listener: Int32?
        var connectionsMax: UInt32
        var idleSeconds: UInt32
        /// How many connections a client's address may have, or 0 for no limit.
        var connectionsPerAddress: UInt32
    }

    private let handler: any HTTPHandler
    private let words = Locked(Words())
    private let bell: Descriptor
    private var daemon: OpaquePointer?
    private var thread: pthread_t?

    // Only the loop's thread touches these.
    private var resting: Set<OpaquePointer> = unsafe []
    /// The latest comes first, so that the next one is the last.
    private var due: [Due] = []

    /// Opens the daemon. It answers nothing before `start`. Returns nil if it could not be opened; then errno may say why.
    init?(_ settings: Settings, handler: any HTTPHandler) {
        self.handler = handler
        guard let bell = try? Descriptor.event() else { return nil }
        self.bell = bell
        unsafe daemon = loop_httpd_start(
            settings.flags, settings.address, settings.listener ?? -1, settings.connectionsMax,
            settings.idleSeconds, settings.connectionsPerAddress,
            { loop, connection, url, method, _, piece, pieceBytes, slot in
                // Only the bytes of a body's piece may be missing.
                guard let connection = unsafe connection, let url = unsafe url, let method = unsafe method,
                    let pieceBytes = unsafe pieceBytes, let slot = unsafe slot
                else { return .NO }
                return unsafe HTTPLoop.of(loop).answer(connection, url, method, piece, pieceBytes, slot)
            },
            { _, _, slot, _ in
                guard let slot = unsafe slot, let exchange = unsafe slot.pointee else { return }
                unsafe slot.pointee = nil
                unsafe HTTPLoop.exchange(exchange).takeRetainedValue().exchange.end()
            },
            { _, _, text in unsafe text.map { unsafe strlen($0) } ?? 0 },
            unsafe Unmanaged.passUnretained(self).toOpaque())
        if unsafe daemon == nil { return nil }
    }

    deinit {
        if let daemon = unsafe daemon { unsafe MHD_stop_daemon(daemon) }
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> HTTPLoop {
        guard let pointer = unsafe pointer else {
            preconditionFailure("libmicrohttpd has lost the loop that it was given")
        }
        return unsafe Unmanaged<HTTPLoop>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The object that libmicrohttpd keeps for one request, from its headers to the end of its answer.
    private final class Slot {
        let exchange: any HTTPExchange
        init(_ exchange: any HTTPExchange) { self.exchange = exchange }
    }

    private static func exchange(_ pointer: UnsafeMutableRawPointer) -> Unmanaged<Slot> {
        unsafe Unmanaged<Slot>.fromOpaque(pointer)
    }

    /// Called several times for a request: with its headers, with each piece of its body, and when it is complete.
    private func answer(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ piece: UnsafePointer<CChar>?, _ pieceBytes: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let pointer = unsafe slot.pointee else {
            let exchange = unsafe handler.begin(
                path: String(cString: url), method: String(cString: method))
            unsafe slot.pointee = Unmanaged.passRetained(Slot(exchange)).toOpaque()
            return .YES
        }
        let exchange = unsafe Self.exchange(pointer).takeUnretainedValue().exchange
        if unsafe pieceBytes.pointee > 0, let piece = unsafe piece {
            unsafe exchange.receive(
                Array(UnsafeRawBufferPointer(start: piece, count: pieceBytes.pointee)))
            unsafe pieceBytes.pointee = 0
            return .YES
        }
        let request = unsafe HTTPRequest(HTTPConnection(pointer: connection, loop: self))
        return unsafe HTTPResponse.send(
            exchange.answer(request), on: connection, resting: { unsafe self.rest(connection, for: $0) })
    }

    var port: UInt16 { unsafe UInt16(truncatingIfNeeded: loop_httpd_port(daemon)) }

    /// The socket on which the loop listens.
    var listener: Int32 { unsafe loop_httpd_listener(daemon) }

    /// Starts the thread, which keeps the loop until it ends. Returns false if the system has no thread to give.
    func start() -> Bool {
        let loop = unsafe Unmanaged.passRetained(self)
        var handle = pthread_t()
        let result = CurrentThread.withSignalsBlocked {
            unsafe pthread_create(
                &handle, nil,
                { loop in
                    if let loop = unsafe loop {
                        unsafe Unmanaged<HTTPLoop>.fromOpaque(loop).takeRetainedValue().run()
                    }
                    return nil
                }, unsafe loop.toOpaque())
        }
        guard result == 0 else {
            unsafe loop.release()
            errno = result
            return false
        }
        thread = handle
        return true
    }

    // MARK: Any thread

    /// Ends the rest of a connection.
    func wake(_ connection: OpaquePointer) {
        leave { unsafe $0.awake.append(connection) }
    }

    /// Ends the loop after its present turn, with all its connections.
    func end() { leave { $0.isStopping = true } }

    /// Waits until the loop has ended. It does not wait on the loop's own thread: there the loop ends after the answer.
    func join() {
        guard let thread else { return }
        self.thread = nil
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    private func leave(_ word: (inout Words) -> Void) {
        words.withLock { word(&$0) }
        bell.signal()
    }

    // MARK: The loop's thread

    /// Suspends the connection until it is woken.
    func rest(_ connection: OpaquePointer) {
        unsafe MHD_suspend_connection(connection)
        unsafe resting.insert(connection)
    }

    /// Lets the connection rest for a while.
    func rest(_ connection: OpaquePointer, for delay: Duration) {
        unsafe rest(connection)
        let new = unsafe Due(time: ContinuousClock.now + delay, connection: connection)
        due.insert(new, at: due.partitioningIndex { $0.time <= new.time })
    }

    private func run() {
        SystemThread.name("loop-web")
        var watched = unsafe [
            Poll.item(loop_httpd_epoll(daemon), POLLIN), Poll.item(bell.number, POLLIN),
        ]
        var hasNewSpace = false
        while true {
            Poll.wait(&watched, milliseconds: hasNewSpace ? 0 : millisecondsToWait())
            if watched[1].revents != 0 { bell.drain() }
            let words = words.withLock { words in
                defer { unsafe words.awake = [] }
                return words
            }
            if words.isStopping { return stop() }
            for index in unsafe words.awake.indices { unsafe resume(words.awake[index]) }
            resumeThoseDue()
            // A full daemon ignores its listening socket. After connections have ended, it looks at it again in its next turn.
            let connections = unsafe loop_httpd_connections(daemon)
            unsafe MHD_run(daemon)
            hasNewSpace = unsafe loop_httpd_connections(daemon) < connections
        }
    }

    private func resume(_ connection: OpaquePointer) {
        if unsafe resting.remove(connection) != nil { unsafe MHD_resume_connection(connection) }
    }

    private func resumeThoseDue() {
        guard !due.isEmpty else { return }
        let now = ContinuousClock.now
        let first = due.partitioningIndex { $0.time <= now }
        for one in due[first...].reversed() { unsafe resume(one.connection) }
        due.removeSubrange(first...)
    }

    /// The time until a connection has been idle for too long or a rest is over, or nil without a limit.
    private func millisecondsToWait() -> Int32? {
        var idle: CUnsignedLongLong = 0
        var wait = unsafe MHD_get_timeout(daemon, &idle) == .YES ? Int(clamping: idle) : Int.max
        if let next = due.last {
            // Rounded up, so that no connection is woken before its time.
            let rest = ContinuousClock.now.duration(to: next.time) / .milliseconds(1)
            wait = min(wait, Int(min(max(rest.rounded(.up), 0), 1e9)))
        }
        return wait == .max ? nil : Int32(clamping: wait)
    }

    private func stop() {
        while let connection = unsafe resting.popFirst() { unsafe MHD_resume_connection(connection) }
        unsafe resting = []
        due = []
        unsafe MHD_stop_daemon(daemon)
        unsafe daemon = nil
    }
}

/// The connection of a request, which may rest before its answer, or between two parts of it.
@safe package struct HTTPConnection: @unchecked Sendable {
    /// The connection in libmicrohttpd.
    let pointer: OpaquePointer
    fileprivate let loop: HTTPLoop

    /// Asks for no more of an answer until `wake`. Must be called while the handler or the source is asked for it.
    package func rest() { unsafe loop.rest(pointer) }

    /// Ends the rest. May be called on any thread, once for each `rest`. After the server's end it does nothing.
    package func wake() { unsafe loop.wake(pointer) }
}

extension Array {
    /// The first index for which `belongs` holds, in an array in which it holds for none and then for all.
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
