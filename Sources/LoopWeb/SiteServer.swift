internal import HTTPServer
internal import LoopLock

/// A web server for the files below one folder.
///
/// `GET` and `HEAD`, `index.html` or a generated page of links for folders, content types by suffix, keep-alive. Paths
/// cannot leave the folder. On loopback it answers to addresses and to names of this machine only, so that no other site's
/// name can be led here. For tests and demonstrations it is slow, forgetful or rude on request: see `Options`.
///
/// ```swift
/// let server = try SiteServer(folder: "site")
/// print("http://127.0.0.1:\(server.port)/")
/// server.stop()
/// ```
public final class SiteServer: Sendable {
    /// The port that the server listens on; where zero was asked for, the one that the system chose.
    public let port: UInt16

    private let handler: CountingHandler
    private let daemon: Locked<HTTPDaemon?>

    /// Starts to serve. Requests are answered on threads of the server until `stop` is called.
    ///
    /// - Parameters:
    ///   - folder: The folder that `/` stands for.
    ///   - host: An address of this machine, or a name of one. `0.0.0.0` and `::` are all its addresses.
    ///   - port: The port to listen on; zero lets the system choose.
    ///   - options: what is served otherwise than from the folder, and limits.
    /// - Throws: `SiteServerError` when the folder cannot be read or the address cannot be bound.
    public init(
        folder: String, host: String = "127.0.0.1", port: UInt16 = 0, options: Options = Options()
    ) throws(SiteServerError) {
        let site = try SiteFolder(
            folder, listsFolders: options.listsFolders, followsLinksOut: options.followsLinksOut)
        handler = CountingHandler(
            site: site, options: options, origin: OriginCheck.isLoopback(host) ? .loopback(host) : nil)
        let settings = HTTPDaemon.Settings(
            host: host, port: port, threads: options.threads, connectionsMax: options.connectionsMax,
            idleLimit: options.idleLimit)
        let started = try HTTPDaemon.started(settings, handler)
        self.port = started.port
        daemon = Locked(started)
    }

    deinit { stop() }

    /// Closes all connections and ends the server's threads. A second call does nothing.
    /// Called while a request is answered, on one of these threads, it does not wait for that one.
    public func stop() {
        daemon.withLock { $0.take() }?.stop()
    }

    /// Requests so far, those included that have no answer yet.
    public var requestCount: Int { handler.counts.withLock { $0.total } }

    /// How often each path was asked for, by the path as it was sent (percent-encoded, without the query).
    public var requests: [String: Int] { handler.counts.withLock { $0.byPath } }

    /// The largest number of requests that were waiting for their answers at the same time.
    public var concurrencyMax: Int { handler.counts.withLock { $0.underWayMax } }
}
