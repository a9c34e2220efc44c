internal import LoopNode
internal import Linux
public import LoopView

/// Shows a view in browsers as a page that follows the loop live. Its buttons and fields become actions.
///
/// In a browser without scripts the page works by forms, and shows the state at each load. By default the server listens on this
/// machine only. It refuses requests that other sites' pages make. Users' actions run one at a time, on the server's thread.
///
/// ```swift
/// let store = Store(Movies())
/// let server = try ViewServer(MoviesPage(store: store))        // all browsers see the same
/// let server = try ViewServer { MoviesPage(store: Store(Movies())) }   // each has its own
/// print(server.address)
/// ```
public final class ViewServer: Sendable {
    /// How a view is served.
    public struct Options: Sendable {
        /// The page's title.
        public var title = "Loop"
        /// An address of this machine, or a name of one. `0.0.0.0` and `::` are all its addresses. Anyone who can reach it can do
        /// what the page can do: there is no password, and no encryption. See ``ViewServer/warning``.
        public var host = "127.0.0.1"
        /// The port to listen on. Zero lets the system choose.
        public var port: UInt16 = 0
        /// The names under which browsers may load the page, without ports. A request under another name is refused, so that the
        /// name of another site cannot be pointed at this server. If it is empty, this machine's names and `host` are allowed. If
        /// `host` then is all addresses, every IP address, `localhost` and the name of this machine are allowed.
        public var allowedHosts: [String] = []
        /// The largest number of updates per second.
        public var framesPerSecond = 20
        /// Whether the page is as wide as the window.
        package var isWide = false
        /// The largest number of sessions at a time. Beyond it, the sessions that have been idle longest end.
        package var sessionsMax = 1000
        /// How long a session may be idle before it ends.
        package var sessionIdleLimit: Duration = .seconds(600)
        /// The largest number of connections at a time. Each open page has one.
        package var connectionsMax = 2000
        /// The largest form that is read, in bytes.
        package var formBytesMax = 1 << 20

        /// Creates the default options.
        public init() {}
    }

    private let host: String
    private let pages: PageCache
    private let daemon: HTTPDaemon
    private let beats: Task<Void, Never>

    /// Serves one view to all browsers. What one user does, all users see.
    /// - Throws: if the address cannot be bound.
    public convenience init(_ view: some View, options: Options = Options()) throws(SiteServerError) {
        let tag = SessionName.new()
        let rate = options.framesPerSecond
        try self.init(options, isShared: true) { LivePage(view, tag: tag, framesPerSecond: rate) }
    }

    /// Serves every browser a view of its own, which ends when the browser has been away for long.
    /// - Parameters:
    ///   - options: the address, and limits.
    ///   - view: makes the view, mostly with a store of its own.
    /// - Throws: if the address cannot be bound.
    public convenience init(
        options: Options = Options(), perSession view: @escaping @Sendable () -> some View
    ) throws(SiteServerError) {
        let rate = options.framesPerSecond
        try self.init(options, isShared: false) {
            LivePage(view(), tag: SessionName.new(), framesPerSecond: rate)
        }
    }

    private init(
        _ options: Options, isShared: Bool, page: @escaping @Sendable () -> LivePage
    ) throws(SiteServerError) {
        let pages = PageCache(
            isShared: isShared, pagesMax: options.sessionsMax, idleLimit: options.sessionIdleLimit, make: page)
        let handler = ViewRequestHandler(
            title: options.title, origin: Self.origin(options), pages: pages,
            bodyBytesMax: options.formBytesMax, isWide: options.isWide)
        do throws(HTTPDaemon.StartError) {
            daemon = try HTTPDaemon(
                host: options.host, port: options.port, connectionsMax: options.connectionsMax,
                idleLimit: .seconds(60), handler: handler)
        } catch {
            pages.close()
            throw SiteServerError(error)
        }
        self.pages = pages
        host = options.host
        // Detached, because it lives as long as the server, which cancels it. It sends beats, because a browser that is gone is
        // noticed only when something is written to it.
        beats = Task.detached { [weak pages] in
            while (try? await Task.sleep(for: .seconds(15))) != nil {
                guard let pages else { return }
                pages.endIdle()
                for page in pages.all { page.beat() }
            }
        }
    }

    deinit { stop() }

    /// The port that the server listens on.
    package var port: UInt16 { daemon.port }

    /// The address of the page, such as `http://127.0.0.1:8080/`.
    public var address: String {
        switch host {
        case "0.0.0.0", "::": "http://127.0.0.1:\(port)/"
        default: "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
        }
    }

    /// A line for the program to show if other machines can reach the page, or nil if only this machine can.
    public var warning: String? {
        OriginCheck.isLoopback(host)
            ? nil : "whoever can reach \(host) port \(port) can see this page and press its buttons"
    }

    /// Closes all connections and ends the server's thread. A second call does nothing. If it is called on that thread, while a
    /// request is answered, it does not wait for the thread.
    public func stop() {
        beats.cancel()
        pages.close()
        daemon.stop()
    }

    private static func origin(_ options: Options) -> OriginCheck {
        if !options.allowedHosts.isEmpty { return OriginCheck(hosts: options.allowedHosts) }
        switch options.host {
        case "0.0.0.0", "::", "": return OriginCheck(hosts: ["localhost", System.hostName], allowsAddresses: true)
        default:
            let own = options.host.contains(":") ? "[\(options.host)]" : options.host
            return OriginCheck(hosts: ["127.0.0.1", "localhost", "[::1]", own])
        }
    }
}
