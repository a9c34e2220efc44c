internal import CHTTPD
internal import Glibc
internal import LoopLock

/// Who answers the requests of a daemon. Called on the daemon's threads, several at a time.
protocol WebDesk: AnyObject, Sendable {
    /// Called for a request again and again: with its headers, with each piece of its body, and when it is complete.
    ///
    /// - Parameters:
    ///   - piece: the next bytes of the body; what is left of them is said in `pieceBytes`.
    ///   - slot: holds what belongs to the request.
    func answer(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ piece: UnsafePointer<CChar>?, _ pieceBytes: UnsafeMutablePointer<Int>,
        _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result

    /// Called once for each request, however it ended.
    func finish(_ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>)

    /// From now on no request waits: libmicrohttpd cannot be stopped while a connection is suspended.
    func close()
}

/// A running libmicrohttpd daemon.
struct WebDaemon: @unchecked Sendable {
    /// How a daemon listens.
    struct Settings {
        var host: String
        /// Zero lets the system choose.
        var port: UInt16
        var threads: Int
        var connectionsMax: Int
        var idleLimit: Duration
    }

    /// Carries the desk through the C library.
    private final class Holder {
        let desk: any WebDesk
        init(_ desk: any WebDesk) { self.desk = desk }

        static func of(_ pointer: UnsafeMutableRawPointer?) -> any WebDesk {
            Unmanaged<Holder>.fromOpaque(pointer!).takeUnretainedValue().desk
        }
    }

    let port: UInt16
    private let handle: OpaquePointer
    private let holder: Unmanaged<Holder>

    init(_ settings: Settings, desk: any WebDesk) throws(SiteServerError) {
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
        var flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        if found.pointee.ai_family == AF_INET6 { flags |= MHD_USE_IPv6.rawValue }

        // Signals are the business of the program's own threads; new threads inherit the mask.
        var all = sigset_t()
        var previous = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

        let holder = Unmanaged.passRetained(Holder(desk))
        let threads = UInt32(clamping: min(max(settings.threads, 1), 64))
        // libmicrohttpd shares the connections out among the threads, and wants one for each.
        let connections = UInt32(clamping: max(settings.connectionsMax, Int(threads)))
        errno = 0
        guard
            let handle = loop_httpd_start(
                flags, address, threads, connections,
                UInt32(clamping: max(settings.idleLimit, .zero).components.seconds),
                { Holder.of($0).answer($1!, $2!, $3!, $5, $6!, $7!) },
                { desk, _, exchange, _ in Holder.of(desk).finish(exchange!) },
                { _, _, text in text.map { strlen($0) } ?? 0 },
                holder.toOpaque())
        else {
            let reason = errno == 0 ? "the server could not be started" : String(cString: strerror(errno))
            holder.release()
            throw SiteServerError(
                .addressUnavailable, "cannot listen on \(host) port \(port): \(reason); give another port, or 0 for any"
            )
        }
        self.handle = handle
        self.holder = holder
        self.port = UInt16(truncatingIfNeeded: loop_httpd_port(handle))
    }

    /// Closes all connections and ends the threads.
    func stop() {
        holder.takeUnretainedValue().desk.close()
        MHD_stop_daemon(handle)
        holder.release()
    }
}
