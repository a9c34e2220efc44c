internal import CHTTPD
internal import Glibc

/// Who answers the requests of a daemon. Called on the daemon's threads, several at a time.
protocol RequestHandler: AnyObject, Sendable {
    /// Called for a request again and again: with its headers, with each piece of its body, and when it is complete.
    ///
    /// - Parameters:
    ///   - piece: the next bytes of the body; what is left of them is said in `pieceBytes`.
    ///   - slot: holds what belongs to the request.
    func answer(
        _ connection: WebConnection, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ piece: UnsafePointer<CChar>?, _ pieceBytes: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result

    /// Called once for each request, however it ended.
    func finish(_ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>)
}

/// A running web server: one or more loops that listen on one socket.
struct WebDaemon: Sendable {
    /// How a daemon listens.
    struct Settings {
        var host: String
        /// Zero lets the system choose.
        var port: UInt16
        var threads: Int
        var connectionsMax: Int
        var idleLimit: Duration
    }

    let port: UInt16
    private let loops: [WebLoop]
    private let listener: Int32

    init(_ settings: Settings, handler: any RequestHandler) throws(SiteServerError) {
        let (host, port) = (settings.host, settings.port)
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &found)
        guard result == 0, let found, let address = found.pointee.ai_addr else {
            throw SiteServerError(
                .hostUnknown,
                "cannot listen on \"\(host)\": \(String(cString: gai_strerror(result))); "
                    + "give an address of this machine, such as 127.0.0.1")
        }
        defer { freeaddrinfo(found) }
        var flags = MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        if found.pointee.ai_family == AF_INET6 { flags |= MHD_USE_IPv6.rawValue }

        let threads = min(max(settings.threads, 1), 64)
        // The connections are shared out among the threads.
        let connections = max(settings.connectionsMax, threads)
        var loops: [WebLoop] = []
        errno = 0
        for number in 0..<threads {
            // Each daemon closes its own.
            let listener = loops.first.map { fcntl($0.listener, F_DUPFD_CLOEXEC, 0) } ?? -1
            let settings = WebLoop.Settings(
                flags: flags, address: address, listener: listener,
                connectionsMax: UInt32(clamping: (connections + threads - 1 - number) / threads),
                idleSeconds: UInt32(clamping: max(settings.idleLimit, .zero).components.seconds))
            guard loops.isEmpty || listener >= 0, let loop = WebLoop(settings, handler: handler) else {
                if listener >= 0 { Glibc.close(listener) }
                throw Self.unavailable(host, port)
            }
            loops.append(loop)
        }
        self.port = loops[0].port
        self.loops = loops
        listener = loops[0].listener
        for loop in loops where !loop.start() {
            let error = Self.unavailable(host, port)
            stop()
            throw error
        }
    }

    private static func unavailable(_ host: String, _ port: UInt16) -> SiteServerError {
        let reason = errno == 0 ? "the server could not be started" : String(cString: strerror(errno))
        return SiteServerError(
            .addressUnavailable, "cannot listen on \(host) port \(port): \(reason); give another port, or 0 for any")
    }

    /// Refuses who comes from now on, closes all connections and ends the threads.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        for loop in loops { loop.end() }
        for loop in loops { loop.join() }
    }
}
