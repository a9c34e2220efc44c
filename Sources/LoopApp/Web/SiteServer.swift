internal import LoopCollections
internal import LoopNode

/// A web server for the files below one folder.
///
/// It serves `GET` and `HEAD`, `index.html` or a page of links for folders, content types by suffix, and keep-alive. Paths cannot
/// leave the folder. On loopback it answers only to addresses and to names of this machine, so that another site's name cannot be
/// pointed at it. For tests and demonstrations it can be slow, forgetful or rude: see `Options`.
/// ```swift
/// let server = try SiteServer(folder: "site")
/// print("http://127.0.0.1:\(server.port)/")
/// server.stop()
/// ```
package final class SiteServer: Sendable {
    private let handler: CountingHandler
    private let daemon: HTTPDaemon

    /// Starts to serve. A thread of the server answers requests until `stop` is called.
    ///
    /// - Parameters:
    ///   - folder: the folder that is served as `/`.
    ///   - host: an address of this machine, or a name of one. `0.0.0.0` and `::` are all its addresses.
    ///   - port: The port to listen on; zero lets the system choose.
    ///   - options: answers that do not come from the folder, and limits.
    /// - Throws: `SiteServerError` if the folder cannot be read or the address cannot be bound.
    package init(
        folder: String, host: String = "127.0.0.1", port: UInt16 = 0, options: Options = Options()
    ) throws(SiteServerError) {
        let site = try SiteFolder(folder, listsFolders: options.listsFolders)
        handler = CountingHandler(
            site: site, options: options, origin: OriginCheck.isLoopback(host) ? .loopback(host) : nil)
        do throws(HTTPDaemon.StartError) {
            daemon = try HTTPDaemon(
                host: host, port: port, connectionsMax: options.connectionsMax, idleLimit: options.idleLimit,
                handler: handler)
        } catch {
            throw SiteServerError(error)
        }
    }

    deinit { stop() }

    /// The port that the server listens on. If zero was passed, it is the one that the system chose.
    package var port: UInt16 { daemon.port }

    /// Closes all connections and ends the server's thread. A second call does nothing. If it is called on that thread, while a
    /// request is answered, it does not wait for the thread.
    package func stop() { daemon.stop() }

    /// The number of requests so far, including those that have no answer yet.
    package var requestCount: Int { handler.counts.withLock { $0.total } }

    /// The number of requests for each of the first 100,000 paths, as they were sent (percent-encoded, without the query).
    package var requests: [String: Int] { handler.counts.withLock { $0.byPath } }

    /// The largest number of requests that waited for their answers at one time.
    package var concurrencyMax: Int { handler.counts.withLock { $0.underWayMax } }
}
