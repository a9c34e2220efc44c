// Unsafe: a daemon, its connections and its slots belong to libmicrohttpd, which calls back only until it is stopped: the thread
// keeps this object until then. The list of addresses is read until it is freed.

internal import CHTTPD
internal import Glibc
internal import Linux
internal import LoopCollections

/// A running web server: one libmicrohttpd daemon, and the thread that runs it.
///
/// ```text
/// wait ──▶ wake connections that are due or queued ──▶ MHD_run ──▶ answers ──▶ wait …
///   └── asked to stop ──▶ wake all waiters ──▶ MHD_stop_daemon
/// ```
///
/// After its start, only this one thread uses the daemon. Other threads leave a message and ring the bell.
///
/// The daemon is stopped between two turns. It then refuses nothing, and all resting connections have been woken. A daemon with
/// threads of its own (libmicrohttpd 0.9.75) is stopped from outside, while they answer, and crashes. When it is marked as stopped,
/// `MHD_queue_response` reports success and queues nothing. Refusing a malformed request then reads through a null pointer
/// (`transmit_error_response_len`). It also ends the process if a connection is suspended at that moment.
@safe package final class HTTPDaemon: @unchecked Sendable {
    /// Why a daemon could not be started.
    package struct StartError: Error, CustomStringConvertible {
        /// Whether the address could not be bound: another process uses it, or it is not allowed.
        package let isAddressUnavailable: Bool
        /// What went wrong, with which value, and what to do, in one line.
        package let description: String
    }

    // Connections belong to libmicrohttpd. Here they are only passed on.
    @safe private struct Shared: @unchecked Sendable {
        /// The socket on which the daemon listens, until it is stopped.
        var listener: Int32?
        var awake: [OpaquePointer] = unsafe []
        var isStopping = false
        /// The daemon's thread, or nil before it runs.
        var thread: pthread_t?
        var hasEnded = false
    }

    /// A connection that rests until its time has come.
    @safe private struct Due {
        var time: ContinuousClock.Instant
        var connection: OpaquePointer
    }

    /// The port that it listens on.
    package private(set) var port: UInt16 = 0
    private let handler: any HTTPHandler
    private let shared = Monitor(Shared())
    private let bell: Descriptor
    private var daemon: OpaquePointer?

    // Only the daemon's thread touches these.
    private var resting: Set<OpaquePointer> = unsafe []
    /// The latest comes first, so that the next one is the last.
    private var due: [Due] = []

    /// Binds the address, and answers from now on.
    /// - Parameters:
    ///   - port: the port to listen on. Zero lets the system choose.
    ///   - connectionsMax: the largest number of connections at a time. Further ones wait to be accepted.
    ///   - connectionsPerAddress: how many connections a client's address may have, or 0 for no limit.
    ///   - idleLimit: how long a connection may be idle before it is closed, in whole seconds. Zero keeps it for ever.
    package init(
        host: String, port: UInt16, connectionsMax: Int, connectionsPerAddress: Int = 0, idleLimit: Duration,
        handler: any HTTPHandler
    ) throws(StartError) {
        func unavailable(_ reason: String) -> StartError {
            StartError(
                isAddressUnavailable: true,
                description: "cannot listen on \(host) port \(port): \(reason); give another port, or 0 for any")
        }
        self.handler = handler
        do throws(SystemError) {
            bell = try Descriptor.event()
        } catch {
            throw unavailable(error.text)
        }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &found)
        guard result == 0, let found = unsafe found, let address = unsafe found.pointee.ai_addr else {
            let reason = unsafe String(cString: gai_strerror(result))
            throw StartError(
                isAddressUnavailable: false,
                description:
                    "cannot listen on \"\(host)\": \(reason); give an address of this machine, such as 127.0.0.1")
        }
        defer { unsafe freeaddrinfo(found) }
        var flags = MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        if unsafe found.pointee.ai_family == AF_INET6 { flags |= MHD_USE_IPv6.rawValue }
        errno = 0
        unsafe daemon = loop_httpd_start(
            flags, address, UInt32(clamping: max(connectionsMax, 1)),
            UInt32(clamping: max(idleLimit, .zero).components.seconds), UInt32(clamping: connectionsPerAddress),
            { daemon, connection, url, method, _, piece, pieceBytes, slot in
                // Only the bytes of a body's piece may be missing.
                guard let connection = unsafe connection, let url = unsafe url, let method = unsafe method,
                    let pieceBytes = unsafe pieceBytes, let slot = unsafe slot
                else { return .NO }
                return unsafe HTTPDaemon.of(daemon).answer(connection, url, method, piece, pieceBytes, slot)
            },
            { _, _, slot, _ in
                guard let slot = unsafe slot, let exchange = unsafe slot.pointee else { return }
                unsafe slot.pointee = nil
                unsafe HTTPDaemon.exchange(exchange).takeRetainedValue().exchange.end()
            },
            { _, _, text in unsafe text.map { unsafe strlen($0) } ?? 0 },
            unsafe Unmanaged.passUnretained(self).toOpaque())
        guard unsafe daemon != nil else {
            throw unavailable(errno == 0 ? "the server could not be started" : SystemError.lastText)
        }
        self.port = unsafe UInt16(truncatingIfNeeded: loop_httpd_port(daemon))
        let listener = unsafe loop_httpd_listener(daemon)
        shared.withLock { $0.listener = listener }
        do throws(SystemError) {
            try Signals.withAllButFaultsBlocked { () throws(SystemError) in
                try SystemThread.start("loop-web", stackBytes: 8 << 20) { self.run() }
            }
        } catch {
            throw unavailable(error.text)
        }
    }

    deinit {
        if let daemon = unsafe daemon { unsafe MHD_stop_daemon(daemon) }
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> HTTPDaemon {
        guard let pointer = unsafe pointer else {
            preconditionFailure("libmicrohttpd has lost the server that it was given")
        }
        return unsafe Unmanaged<HTTPDaemon>.fromOpaque(pointer).takeUnretainedValue()
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
        let request = unsafe HTTPRequest(HTTPConnection(pointer: connection, daemon: self))
        return unsafe HTTPResponse.send(
            exchange.answer(request), on: connection, resting: { unsafe self.rest(connection, for: $0) })
    }

    // MARK: Any thread

    /// Refuses new connections, closes all present ones and ends the thread. A second call does nothing. It does not wait on the
    /// server's own thread: there the server ends after the answer.
    package func stop() {
        guard let listener = shared.withLock({ $0.listener.take() }) else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        leave { $0.isStopping = true }
        let isOwnThread = shared.withLock { $0.thread == pthread_self() }
        if !isOwnThread { shared.wait(until: { $0.hasEnded }) }
    }

    /// Ends the rest of a connection.
    fileprivate func wake(_ connection: OpaquePointer) {
        leave { unsafe $0.awake.append(connection) }
    }

    private func leave(_ message: (inout Shared) -> Void) {
        shared.withLock { message(&$0) }
        bell.signal()
    }

    // MARK: The server's thread

    /// Suspends the connection until it is woken.
    fileprivate func rest(_ connection: OpaquePointer) {
        unsafe MHD_suspend_connection(connection)
        unsafe resting.insert(connection)
    }

    /// Lets the connection rest for a while.
    private func rest(_ connection: OpaquePointer, for delay: Duration) {
        unsafe rest(connection)
        let new = unsafe Due(time: ContinuousClock.now + delay, connection: connection)
        due.insert(new, at: due.partitioningIndex { $0.time <= new.time })
    }

    private func run() {
        shared.withLock { $0.thread = pthread_self() }
        var watched = unsafe [
            Poll.item(loop_httpd_epoll(daemon), POLLIN), Poll.item(bell.number, POLLIN),
        ]
        var hasNewSpace = false
        while true {
            Poll.wait(&watched, milliseconds: hasNewSpace ? 0 : millisecondsToWait())
            if watched[1].revents != 0 { bell.drain() }
            let left = shared.withLock { shared in
                defer { unsafe shared.awake = [] }
                return shared
            }
            if left.isStopping { return end() }
            for index in unsafe left.awake.indices { unsafe resume(left.awake[index]) }
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

    private func end() {
        while let connection = unsafe resting.popFirst() { unsafe MHD_resume_connection(connection) }
        unsafe resting = []
        due = []
        unsafe MHD_stop_daemon(daemon)
        unsafe daemon = nil
        shared.withLock { $0.hasEnded = true }
        shared.broadcast()
    }
}

/// The connection of a request, which may rest before its answer, or between two parts of it.
@safe package struct HTTPConnection: @unchecked Sendable {
    /// The connection in libmicrohttpd.
    let pointer: OpaquePointer
    fileprivate let daemon: HTTPDaemon

    /// Asks for no more of an answer until `wake`. Must be called while the handler or the source is asked for it.
    package func rest() { unsafe daemon.rest(pointer) }

    /// Ends the rest. May be called on any thread, once for each `rest`. After the server's end it does nothing.
    package func wake() { unsafe daemon.wake(pointer) }
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
