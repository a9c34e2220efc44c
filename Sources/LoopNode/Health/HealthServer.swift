import CBOR
import LoopCollections
import LoopCore

/// What a health server can ask its node.
protocol HealthSource: AnyObject, Sendable {
    /// Asks the node's thread for a report. Does not wait.
    func ask() -> any HealthInquiry
}

/// A question to a node's thread, which may take a moment.
protocol HealthInquiry: AnyObject {
    /// The report; nil if the thread has not answered yet.
    func report() -> HealthReport?
    /// The report if the thread has not answered in time.
    func reportWithoutAnswer() -> HealthReport
}

/// How a node is, as it can be shown.
struct HealthReport: Sendable {
    /// Whether something is so, and a line for people that says why or why not.
    struct Verdict: Equatable, Sendable {
        var isTrue: Bool
        var text: String
    }

    /// Whether the node's thread takes turns.
    var isLive: Verdict
    /// Whether the node does its work.
    var isReady: Verdict
    /// Whether the node leads and commits; nil if it is no reducer.
    var leads: Verdict?
    /// How a standby follows: whether it is one that could take over, and its lag in records; nil if it is no reducer.
    var follows: (verdict: Verdict, lag: UInt64)?
    /// The report as a JSON document; nil if there is none.
    var json: String?
    var metrics: [MetricFamily]
}

/// Answers HTTP requests about a node's health, on a thread of its own.
final class HealthServer: Sendable {
    /// How long the node's thread may take for an answer before it counts as stuck.
    static let patience = Duration.seconds(2)

    private static let connectionsMax = 256
    /// How many connections one address may have, so that no machine takes all of them.
    private static let connectionsPerAddress = 16
    /// A connection on which nothing comes for this long is closed, so that idle ones do not keep others out.
    private static let idleLimit = Duration.seconds(5)

    private let daemon: HTTPDaemon
    /// The address with the port that it listens on.
    let address: String

    /// Starts to answer, until the server is released.
    init(_ endpoint: HealthEndpoint, _ source: any HealthSource, _ log: NodeLog) throws(NodeError) {
        let isLocal = OriginCheck.isLoopback(endpoint.host)
        let handler = HealthHandler(
            source, token: try endpoint.token(), origin: isLocal ? .loopback(endpoint.host) : nil)
        do throws(HTTPDaemon.StartError) {
            daemon = try HTTPDaemon(
                host: endpoint.host, port: endpoint.port, connectionsMax: Self.connectionsMax,
                connectionsPerAddress: isLocal ? 0 : Self.connectionsPerAddress, idleLimit: Self.idleLimit,
                handler: handler)
        } catch {
            throw .configuration("--http: \(error)")
        }
        let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
        address = "\(host):\(daemon.port)"
        log.note(.listening, "health and metrics at http://\(address)/", [.address(address)])
    }

    deinit { daemon.stop() }
}

/// Answers requests by their paths.
private final class HealthHandler: HTTPHandler {
    /// One request.
    private final class Exchange: HTTPExchange {
        private let handler: HealthHandler
        private let path: String
        private let method: String
        private var inquiry: (any HealthInquiry, askedAt: ContinuousClock.Instant)?

        init(_ handler: HealthHandler, path: String, method: String) {
            self.handler = handler
            self.path = path
            self.method = method
        }

        func receive(_ piece: [UInt8]) {}

        func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer {
            if let refusal = handler.refusal(of: request, path, method) { return .reply(refusal) }
            let (inquiry, askedAt) = inquiry ?? (handler.source.ask(), .now)
            self.inquiry = (inquiry, askedAt)
            if let report = inquiry.report() { return .reply(handler.answer(request, path, report)) }
            guard ContinuousClock.now - askedAt >= HealthServer.patience else { return .later(.milliseconds(5)) }
            return .reply(handler.answer(request, path, inquiry.reportWithoutAnswer()))
        }

        func end() {}
    }

    let source: any HealthSource
    private let token: String?
    private let origin: OriginCheck?

    init(_ source: any HealthSource, token: String?, origin: OriginCheck?) {
        self.source = source
        self.token = token
        self.origin = origin
    }

    func begin(path: String, method: String) -> any HTTPExchange { Exchange(self, path: path, method: method) }

    func refusal(of request: borrowing HTTPRequest, _ path: String, _ method: String) -> HTTPReply? {
        if let origin, let host = request.header("Host"), !origin.isOurs(host: host) {
            return Self.reply(status: 421, text: "this server does not answer to the name \(host)\n")
        }
        if let token, !Self.hasToken(request.header("Authorization"), token) {
            return Self.reply(
                status: 401, text: "the request needs the token: Authorization: Bearer TOKEN\n",
                headers: [("WWW-Authenticate", "Bearer")])
        }
        guard Self.paths.contains(path) else {
            return Self.reply(
                status: 404, text: "there is no \(path); there are \(Self.paths.joined(separator: ", "))\n")
        }
        guard method == "GET" || method == "HEAD" else {
            return Self.reply(status: 405, text: "only GET and HEAD are answered\n", headers: [("Allow", "GET, HEAD")])
        }
        return nil
    }

    private static let paths = ["/livez", "/readyz", "/leader", "/standby", "/status.json", "/metrics"]

    /// Whether a header has the token. The name of the scheme may be in upper or lower case (RFC 9110, section 11.1).
    private static func hasToken(_ header: String?, _ token: String) -> Bool {
        guard let header, let space = header.firstIndex(of: " "), header[..<space].lowercased() == "bearer" else {
            return false
        }
        return isEqual(String(header[space...].drop { $0 == " " }), token)
    }

    /// Compares in a time that does not depend on where two texts differ.
    private static func isEqual(_ a: String, _ b: String) -> Bool {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        return a.count == b.count && zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    func answer(_ request: borrowing HTTPRequest, _ path: String, _ report: HealthReport) -> HTTPReply {
        switch path {
        case "/livez": return Self.reply(report.isLive)
        case "/readyz": return Self.reply(report.isReady)
        case "/leader": return Self.reply(report.leads)
        case "/standby": return standby(report, lagMax: request.query("max-lag"))
        case "/status.json":
            if report.leads == nil { return Self.reply(nil) }
            guard let json = report.json else { return Self.reply(report.isLive) }
            return Self.reply(status: 200, text: json + "\n", type: "application/json")
        default:
            let isOpen = request.header("Accept")?.contains("application/openmetrics-text") ?? false
            return Self.reply(
                status: 200, text: MetricsText.text(report.metrics, isOpenMetrics: isOpen),
                type: MetricsText.contentType(isOpenMetrics: isOpen))
        }
    }

    private func standby(_ report: HealthReport, lagMax: String?) -> HTTPReply {
        guard let follows = report.follows else { return Self.reply(nil) }
        guard let lagMax, follows.verdict.isTrue else { return Self.reply(follows.verdict) }
        guard let limit = UInt64(lagMax) else {
            return Self.reply(status: 400, text: "max-lag is a number of records, and not '\(lagMax)'\n")
        }
        if follows.lag <= limit { return Self.reply(follows.verdict) }
        return Self.reply(
            HealthReport.Verdict(isTrue: false, text: "it is \(follows.lag) records behind, and \(limit) are allowed"))
    }

    private static func reply(_ verdict: HealthReport.Verdict?) -> HTTPReply {
        guard let verdict else { return Self.reply(status: 404, text: "this node is no reducer\n") }
        return Self.reply(status: verdict.isTrue ? 200 : 503, text: verdict.text + "\n")
    }

    private static func reply(
        status: Int, text: String, type: String = "text/plain; charset=utf-8", headers: [(String, String)] = []
    ) -> HTTPReply {
        let all =
            headers + [
                ("Content-Type", type), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ]
        return HTTPReply(status: status, headers: all, body: Array(text.utf8))
    }
}
