internal import LoopNode

/// A web server for the files below one folder.
///
/// It serves `GET` and `HEAD`, `index.html` or a page of links for folders, content types by suffix, and keep-alive. Paths cannot
/// leave the folder. On loopback it answers only to addresses and to names of this machine, so that another site's name cannot be
/// pointed at it.
/// ```swift
/// let server = try SiteServer(folder: "site")
/// print("http://127.0.0.1:\(server.port)/")
/// server.stop()
/// ```
package final class SiteServer: Sendable {
    private static let connectionsMax = 4096
    private static let idleLimit = Duration.seconds(60)

    private let daemon: HTTPDaemon

    /// Starts to serve. A thread of the server answers requests until `stop` is called.
    ///
    /// - Parameters:
    ///   - folder: the folder that is served as `/`.
    ///   - host: an address of this machine, or a name of one. `0.0.0.0` and `::` are all its addresses.
    ///   - port: The port to listen on; zero lets the system choose.
    ///   - latency: how long every request waits before it is answered, as if the server were far away. It blocks no thread.
    /// - Throws: `SiteServerError` if the folder cannot be read or the address cannot be bound.
    package init(
        folder: String, host: String = "127.0.0.1", port: UInt16 = 0, latency: Duration = .zero
    ) throws(SiteServerError) {
        let handler = try SiteHandler(folder: folder, host: host, latency: latency)
        do throws(HTTPDaemon.StartError) {
            daemon = try HTTPDaemon(
                host: host, port: port, connectionsMax: Self.connectionsMax, idleLimit: Self.idleLimit,
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
}
