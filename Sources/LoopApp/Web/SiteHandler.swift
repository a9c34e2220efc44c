package import LoopNode
internal import LoopCore

/// Answers requests with the files below one folder.
package final class SiteHandler: HTTPHandler {
    /// One request, from its headers to the end of its answer.
    private final class Exchange: HTTPExchange {
        private let handler: SiteHandler
        private let path: String
        private let method: String
        private var latency: Duration

        init(_ handler: SiteHandler, path: String, method: String) {
            self.handler = handler
            self.path = path
            self.method = method
            latency = handler.latency
        }

        func receive(_ piece: [UInt8]) {}

        func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer {
            if latency > .zero {
                defer { latency = .zero }
                return .later(latency)
            }
            guard handler.isOurs(request.header("Host")) else { return .reply(.page(status: 421)) }
            return handler.answer(path, method)
        }

        func end() {}
    }

    private let site: SiteFolder
    private let latency: Duration
    /// The names that the server answers to, or nil for any name.
    private let origin: OriginCheck?

    /// - Parameters:
    ///   - folder: the folder that is served as `/`.
    ///   - host: the address of the server. On loopback it answers only to addresses and to names of this machine.
    ///   - latency: how long every request waits before it is answered. It blocks no thread.
    /// - Throws: `SiteServerError` if the folder cannot be read.
    package init(folder: String, host: String, latency: Duration = .zero) throws(SiteServerError) {
        site = try SiteFolder(folder)
        self.latency = latency
        origin = OriginCheck.isLoopback(host) ? .loopback(host) : nil
    }

    package func begin(path: String, method: String) -> any HTTPExchange { Exchange(self, path: path, method: method) }

    /// Whether the request is meant for this server. A request without a host passes, because browsers always name one.
    private func isOurs(_ host: String?) -> Bool {
        guard let origin, let host else { return true }
        return origin.isOurs(host: host)
    }

    private func answer(_ path: String, _ method: String) -> HTTPAnswer {
        guard method == "GET" || method == "HEAD" else {
            return .reply(.page(status: 405, headers: [("Allow", "GET, HEAD")]))
        }
        switch site.entry(path) {
        case .file(let file, let bytes, let modified, let contentType):
            // A site's own pages decide what they may load.
            let headers = [
                ("Content-Type", contentType), ("Last-Modified", httpDate(modified)), ("Cache-Control", "no-cache"),
            ]
            return .file(file, bytes: bytes, headers: headers + HTTPReply.siteHeaders)
        case .redirect(let location): return .reply(.page(status: 301, headers: [("Location", location)]))
        case .listing(let page): return .reply(.page(page))
        case .failure(let status): return .reply(.page(status: status))
        }
    }

    /// A time as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7), whatever the locale.
    private func httpDate(_ seconds: Int) -> String {
        let time = CivilTime(seconds: Int64(seconds))
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[time.weekday]), \(two(time.day)) \(months[time.month - 1]) "
            + "\(time.year) \(two(time.hour)):\(two(time.minute)):\(two(time.second)) GMT"
    }
}
