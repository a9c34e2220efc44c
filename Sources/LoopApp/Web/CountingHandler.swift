internal import LoopNode
internal import Linux
internal import LoopCollections

/// Answers requests from a folder, or as `Options.handler` says, and counts them.
final class CountingHandler: HTTPHandler {
    struct Counts {
        var total = 0
        var underWay = 0
        var underWayMax = 0
        var byPath: [String: Int] = [:]
    }

    /// One request, from its headers to the end of its answer.
    private final class Exchange: HTTPExchange {
        private let handler: CountingHandler
        private let path: String
        private let method: String
        private let override: SiteServer.Override?
        private var latency: Duration

        init(
            _ handler: CountingHandler, path: String, method: String, override: SiteServer.Override?,
            latency: Duration
        ) {
            self.handler = handler
            self.path = path
            self.method = method
            self.override = override
            self.latency = latency
        }

        func receive(_ piece: [UInt8]) {}

        func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer {
            if latency > .zero {
                defer { latency = .zero }
                return .later(latency)
            }
            guard handler.isOurs(request.header("Host")) else { return Reply.page(status: 421).answer }
            switch override?.answer {
            case .drop: return .drop
            case .reply(let reply): return reply.answer
            case .folder, nil: return handler.answer(path, method)
            }
        }

        func end() { handler.counts.withLock { $0.underWay -= 1 } }
    }

    /// How many distinct paths are counted. Requests for later paths count only in the total.
    private static let countedPathsMax = 100_000

    let counts = Locked(Counts())
    private let site: SiteFolder
    private let options: SiteServer.Options

    private let origin: OriginCheck?

    /// - Parameter origin: the names that the server answers to, or nil for any name.
    init(site: SiteFolder, options: SiteServer.Options, origin: OriginCheck?) {
        self.site = site
        self.options = options
        self.origin = origin
    }

    /// Whether the request is meant for this server. A request without a host passes, because browsers always name one.
    private func isOurs(_ host: String?) -> Bool {
        guard let origin, let host else { return true }
        return origin.isOurs(host: host)
    }

    func begin(path: String, method: String) -> any HTTPExchange {
        counts.withLock { counts in
            counts.total += 1
            counts.underWay += 1
            counts.underWayMax = max(counts.underWayMax, counts.underWay)
            if counts.byPath.count < Self.countedPathsMax || counts.byPath[path] != nil {
                counts.byPath[path, default: 0] += 1
            }
        }
        let override = options.handler?(path, method)
        let latency = override?.latency ?? options.latency
        return Exchange(self, path: path, method: method, override: override, latency: latency)
    }

    private func answer(_ path: String, _ method: String) -> HTTPAnswer {
        guard method == "GET" || method == "HEAD" else {
            var reply = Reply.page(status: 405)
            reply.headers.append(("Allow", "GET, HEAD"))
            return reply.answer
        }
        switch site.entry(path) {
        case .file(let file, let bytes, let modified, let contentType):
            // A site's own pages decide what they may load.
            let headers = [
                ("Content-Type", contentType), ("Last-Modified", httpDate(modified)), ("Cache-Control", "no-cache"),
            ]
            return .file(file, bytes: bytes, headers: headers + Reply.commonHeaders)
        case .redirect(let location):
            var reply = Reply.page(status: 301)
            reply.headers.append(("Location", location))
            return reply.answer
        case .listing(let page):
            return Reply(status: 200, headers: Reply.pageHeaders, body: page).answer
        case .failure(let status): return Reply.page(status: status).answer
        }
    }

    /// A time as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7), whatever the locale.
    private func httpDate(_ seconds: Int) -> String {
        guard let time = CalendarTime(seconds: seconds) else { return "Thu, 01 Jan 1970 00:00:00 GMT" }
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[time.weekday]), \(two(time.day)) \(months[time.month - 1]) "
            + "\(time.year) \(two(time.hour)):\(two(time.minute)):\(two(time.second)) GMT"
    }
}

extension Reply {
    fileprivate var answer: HTTPAnswer { .bytes(body, status: status, headers: headers + Self.commonHeaders) }
}
