// Unsafe: the list of addresses is read until it is freed.

internal import CHTTPD
internal import Glibc
internal import Linux

/// A running web server: one or more loops that listen on one socket.
package struct HTTPDaemon: Sendable {
    /// The settings of a daemon.
    package struct Settings {
        package var host: String
        /// The port to listen on. Zero lets the system choose.
        package var port: UInt16
        package var threads: Int
        package var connectionsMax: Int
        package var idleLimit: Duration
        /// How many connections a client's address may have, or 0 for no limit.
        package var connectionsPerAddress: Int

        /// Creates settings from their parts.
        package init(
            host: String, port: UInt16, threads: Int, connectionsMax: Int, idleLimit: Duration,
            connectionsPerAddress: Int = 0
        ) {
            self.host = host
            self.port = port
            self.threads = threads
            self.connectionsMax = connectionsMax
            self.idleLimit = idleLimit
            self.connectionsPerAddress = connectionsPerAddress
        }
    }

    /// Why a daemon could not be started: what went wrong, with which value, and what to do, in one line.
    package enum StartError: Error {
        /// The host is neither an address of this machine nor a name of one.
        case hostUnknown(String)
        /// The address could not be bound: another process uses it, or it is not allowed.
        case addressUnavailable(String)
    }

    /// The port that it listens on.
    package let port: UInt16
    private let loops: [HTTPLoop]
    private let listener: Int32

    /// Binds the address, and answers from now on.
    package init(_ settings: Settings, handler: any HTTPHandler) throws(StartError) {
        let (host, port) = (settings.host, settings.port)
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &found)
        guard result == 0, let found = unsafe found, let address = unsafe found.pointee.ai_addr else {
            let reason = unsafe String(cString: gai_strerror(result))
            throw .hostUnknown(
                "cannot listen on \"\(host)\": \(reason); give an address of this machine, such as 127.0.0.1")
        }
        defer { unsafe freeaddrinfo(found) }
        func unavailable() -> StartError {
            let reason = errno == 0 ? "the server could not be started" : SystemError.lastText
            return .addressUnavailable(
                "cannot listen on \(host) port \(port): \(reason); give another port, or 0 for any")
        }
        var flags = MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        if unsafe found.pointee.ai_family == AF_INET6 { flags |= MHD_USE_IPv6.rawValue }

        let threads = min(max(settings.threads, 1), 64)
        // The threads share the limit of connections.
        let connections = max(settings.connectionsMax, threads)
        var loops: [HTTPLoop] = []
        errno = 0
        for number in 0..<threads {
            // Each daemon closes its own descriptor.
            let listener = loops.first.map { fcntl($0.listener, F_DUPFD_CLOEXEC, 0) }
            let settings = unsafe HTTPLoop.Settings(
                flags: flags, address: address, listener: listener,
                connectionsMax: UInt32(clamping: (connections + threads - 1 - number) / threads),
                idleSeconds: UInt32(clamping: max(settings.idleLimit, .zero).components.seconds),
                connectionsPerAddress: UInt32(clamping: settings.connectionsPerAddress))
            guard listener != -1, let loop = HTTPLoop(settings, handler: handler) else {
                // Read before the next call, which may change `errno`.
                let error = unavailable()
                if let listener, listener >= 0 { Glibc.close(listener) }
                throw error
            }
            loops.append(loop)
        }
        self.port = loops[0].port
        self.loops = loops
        listener = loops[0].listener
        for loop in loops where !loop.start() {
            let error = unavailable()
            stop()
            throw error
        }
    }

    /// Refuses new connections, closes all present ones and ends the threads.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        for loop in loops { loop.end() }
        for loop in loops { loop.join() }
    }
}
