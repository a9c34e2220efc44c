internal import CHTTPD
internal import Glibc
internal import LoopLock

/// A web server for the files below one folder.
///
/// `GET` and `HEAD`, `index.html` or a generated page of links for folders, content types by suffix, keep-alive. Paths
/// cannot leave the folder. For tests and demonstrations it is slow, forgetful or rude on request: see `Options`.
///
/// ```swift
/// let server = try SiteServer(folder: "site")
/// print("http://127.0.0.1:\(server.port)/")
/// server.stop()
/// ```
public final class SiteServer: Sendable {
    /// The port that the server listens on; where zero was asked for, the one that the system chose.
    public let port: UInt16

    private let desk: FrontDesk
    private let daemon: Locked<Daemon?>

    /// Starts to serve. Requests are answered on threads of the server until `stop` is called.
    ///
    /// - Parameters:
    ///   - folder: The folder that `/` stands for.
    ///   - host: An address of this machine, or a name of one. `0.0.0.0` and `::` are all its addresses.
    ///   - port: The port to listen on; zero lets the system choose.
    /// - Throws: `SiteServerError` when the folder cannot be read or the address cannot be bound.
    public init(
        folder: String, host: String = "127.0.0.1", port: UInt16 = 0, options: Options = Options()
    ) throws(SiteServerError) {
        let site = try SiteFolder(
            folder, listsFolders: options.listsFolders, followsLinksOut: options.followsLinksOut)
        desk = FrontDesk(site: site, options: options)
        let started = try Daemon(host: host, port: port, options: options, desk: desk)
        self.port = started.port
        daemon = Locked(started)
    }

    deinit { stop() }

    /// Closes all connections and ends the server's threads. A second call does nothing.
    public func stop() {
        guard let daemon = daemon.withLock({ $0.take() }) else { return }
        desk.close()
        daemon.stop()
    }

    /// Requests so far, those included that have no answer yet.
    public var requestCount: Int { desk.counts.withLock { $0.total } }

    /// How often each path was asked for, by the path as it was sent (percent-encoded, without the query).
    public var requests: [String: Int] { desk.counts.withLock { $0.byPath } }

    /// The largest number of requests that were waiting for their answers at the same time.
    public var concurrencyMax: Int { desk.counts.withLock { $0.underWayMax } }
}

/// A running libmicrohttpd daemon.
private struct Daemon: @unchecked Sendable {
    let port: UInt16
    private let handle: OpaquePointer
    private let desk: Unmanaged<FrontDesk>

    init(host: String, port: UInt16, options: SiteServer.Options, desk: FrontDesk) throws(SiteServerError) {
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

        let retained = Unmanaged.passRetained(desk)
        let threads = UInt32(clamping: min(max(options.threads, 1), 64))
        // libmicrohttpd shares the connections out among the threads, and wants one for each.
        let connections = UInt32(clamping: max(options.connectionsMax, Int(threads)))
        errno = 0
        guard
            let handle = loop_httpd_start(
                flags, address, threads, connections,
                UInt32(clamping: max(options.idleLimit, .zero).components.seconds),
                { FrontDesk.of($0).answer($1!, $2!, $3!, $6!, $7!) },
                { desk, _, exchange, _ in FrontDesk.of(desk).finish(exchange!) },
                { _, _, text in text.map { strlen($0) } ?? 0 },
                retained.toOpaque())
        else {
            let reason = errno == 0 ? "the server could not be started" : String(cString: strerror(errno))
            retained.release()
            throw SiteServerError(
                .addressUnavailable, "cannot listen on \(host) port \(port): \(reason); give another port, or 0 for any"
            )
        }
        self.handle = handle
        self.desk = retained
        self.port = UInt16(truncatingIfNeeded: loop_httpd_port(handle))
    }

    func stop() {
        MHD_stop_daemon(handle)
        desk.release()
    }
}
