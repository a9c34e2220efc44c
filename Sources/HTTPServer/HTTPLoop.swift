// Unsafe: a daemon, its connections and its slots belong to libmicrohttpd, which calls back only until it is stopped: the
// loop's thread keeps the loop until then.

internal import CHTTPD
internal import Glibc
internal import Linux
internal import LoopLock

/// One libmicrohttpd daemon, and the thread that runs it.
///
/// ```text
/// wait ──▶ wake who is due or was asked for ──▶ MHD_run ──▶ answers ──▶ wait …
///   └── asked to stop ──▶ wake all waiters ──▶ MHD_stop_daemon
/// ```
///
/// After its start a daemon is touched by this one thread only; the others leave a word and ring the bell. A daemon with
/// threads of libmicrohttpd's own (0.9.75) is stopped from outside, while they answer, and does not bear it: from the
/// moment on that the daemon is marked as stopped, `MHD_queue_response` says yes and queues nothing, and a malformed
/// request, refused with such an answer, reads through a null pointer (`transmit_error_response_len`). It also ends the
/// process where a connection is suspended at that moment. Here a daemon is stopped between two turns, when it refuses
/// nothing, and all waiters have been woken.
@safe final class HTTPLoop: @unchecked Sendable {
    // Connections belong to libmicrohttpd; here they are only carried.
    @safe private struct Words: @unchecked Sendable {
        var awake: [OpaquePointer] = unsafe []
        var isStopping = false
    }

    /// A connection that rests until its time has come.
    @safe private struct Due {
        var time: ContinuousClock.Instant
        var connection: OpaquePointer
    }

    /// What the loops of a server have in common.
    @safe struct Settings {
        var flags: UInt32
        var address: UnsafePointer<sockaddr>
        /// Nil: this loop opens it.
        var listener: Int32?
        var connectionsMax: UInt32
        var idleSeconds: UInt32
    }

    private let handler: any HTTPHandler
    private let words = Locked(Words())
    private let bell: Descriptor
    private var daemon: OpaquePointer?
    private var thread: pthread_t?

    // Only the loop's thread touches these.
    private var resting: Set<OpaquePointer> = unsafe []
    /// The latest first, so that the next one is the last.
    private var due: [Due] = []

    /// Opens the daemon; nothing is answered before `start`. Nil: it could not be, and errno may say why.
    init?(_ settings: Settings, handler: any HTTPHandler) {
        self.handler = handler
        guard let bell = try? Descriptor.event() else { return nil }
        self.bell = bell
        unsafe daemon = loop_httpd_start(
            settings.flags, settings.address, settings.listener ?? -1, settings.connectionsMax,
            settings.idleSeconds,
            { loop, connection, url, method, _, piece, pieceBytes, slot in
                // Only a part of a body may be missing.
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

    /// What belongs to one request, as libmicrohttpd keeps it: from its headers to the end of its answer.
    private final class Slot {
        let exchange: any HTTPExchange
        init(_ exchange: any HTTPExchange) { self.exchange = exchange }
    }

    private static func exchange(_ pointer: UnsafeMutableRawPointer) -> Unmanaged<Slot> {
        unsafe Unmanaged<Slot>.fromOpaque(pointer)
    }

    /// Called for a request again and again: with its headers, with each piece of its body, and when it is complete.
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

    /// Starts the thread, which keeps the loop until it ends. False: the system has none to give.
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

    /// Lets a connection that rests go on.
    func wake(_ connection: OpaquePointer) {
        leave { unsafe $0.awake.append(connection) }
    }

    /// Ends the loop after its present turn, with all its connections.
    func end() { leave { $0.isStopping = true } }

    /// Waits until the loop has ended. On its own thread it does not: there the loop ends when the answer is given.
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

    /// From now on nothing happens on the connection until it is woken.
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
            // A full daemon does not look at its listening socket, and begins to again with its next turn.
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

    /// Until a connection has been idle for too long or a rest is over; nil: until something happens.
    private func millisecondsToWait() -> Int32? {
        var idle: CUnsignedLongLong = 0
        var wait = unsafe MHD_get_timeout(daemon, &idle) == .YES ? Int(clamping: idle) : Int.max
        if let next = due.last {
            // Rounded up: no waiter is woken before its time.
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
    /// What libmicrohttpd calls it.
    let pointer: OpaquePointer
    fileprivate let loop: HTTPLoop

    /// No more of an answer is asked for until `wake`. Called while the answer is asked for.
    package func rest() { unsafe loop.rest(pointer) }

    /// Ends the rest. Called on any thread, once for each `rest`; after the server's end it does nothing.
    package func wake() { unsafe loop.wake(pointer) }
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
