internal import LoopApp
internal import LoopCollections
internal import LoopNode

/// A web server for the files below one folder, which counts its requests. It can be slow, forgetful or rude, as a test wants.
package final class ScriptedSite: Sendable {
    /// An answer that replaces the folder's answer.
    package struct Override: Sendable {
        enum Answer {
            case folder
            case reply(HTTPReply)
            case drop
        }

        var answer: Answer
        var latency: Duration?

        /// The folder's answer.
        package static var folder: Override { Override(answer: .folder) }

        /// No answer: the connection is closed.
        package static var drop: Override { Override(answer: .drop) }

        /// An answer with this status and a small page that names it.
        /// - Parameter retryAfterSeconds: the value of a `Retry-After` header.
        package static func status(_ status: Int, retryAfterSeconds: Int? = nil) -> Override {
            let headers = retryAfterSeconds.map { [("Retry-After", String($0))] }
            return Override(answer: .reply(.page(status: status, headers: headers ?? [])))
        }

        /// A redirect.
        /// - Parameter location: the `Location` header as it is sent, relative or absolute.
        package static func redirect(to location: String, status: Int = 302) -> Override {
            Override(answer: .reply(.page(status: status, headers: [("Location", location)])))
        }

        /// An answer with this body.
        package static func body(
            _ body: [UInt8], contentType: String, status: Int = 200, headers: [(String, String)] = []
        ) -> Override {
            let all = [("Content-Type", contentType)] + headers + HTTPReply.siteHeaders
            return Override(answer: .reply(HTTPReply(status: status, headers: all, body: body)))
        }

        /// An answer with this text as UTF-8.
        package static func text(
            _ text: String, contentType: String = "text/html; charset=utf-8", status: Int = 200
        ) -> Override {
            body(Array(text.utf8), contentType: contentType, status: status)
        }

        /// This answer, sent `latency` after the request, whatever the site's latency is.
        package func after(_ latency: Duration) -> Override {
            var copy = self
            copy.latency = latency
            return copy
        }
    }

    /// Says what replaces the folder's answer, or nil if nothing does. It is called once for each request, on the server's thread,
    /// with the path as sent (percent-encoded, without the query) and the method.
    package typealias Script = @Sendable (_ path: String, _ method: String) -> Override?

    private let handler: ScriptedHandler
    private let daemon: HTTPDaemon

    /// Serves a folder on a free port of the loopback address, until it is stopped or released.
    /// - Parameters:
    ///   - latency: how long every request waits before it is answered. It blocks no thread.
    ///   - connectionsMax: the largest number of connections at a time. Further ones wait to be accepted.
    ///   - script: says what does not come from the folder.
    package init(
        folder: String, latency: Duration = .zero, connectionsMax: Int = 4096,
        script: @escaping Script = { _, _ in nil }
    ) throws {
        let host = "127.0.0.1"
        handler = ScriptedHandler(site: try SiteHandler(folder: folder, host: host), latency: latency, script: script)
        daemon = try HTTPDaemon(
            host: host, port: 0, connectionsMax: connectionsMax, idleLimit: .seconds(60), handler: handler)
    }

    deinit { stop() }

    package var port: UInt16 { daemon.port }

    /// Closes all connections and ends the server's thread.
    package func stop() { daemon.stop() }

    /// The number of requests so far, including those that have no answer yet.
    package var requestCount: Int { handler.counts.withLock { $0.total } }

    /// The number of requests for each path, as they were sent (percent-encoded, without the query).
    package var requests: [String: Int] { handler.counts.withLock { $0.byPath } }

    /// Answers the next requests, up to this number. Every later one waits for ``release()``, or for another call of this.
    package func hold(after count: Int) { handler.counts.withLock { $0.answeredMax = $0.total + count } }

    /// Answers what waits, and every later request.
    package func release() { handler.counts.withLock { $0.answeredMax = .max } }

    /// Whether a request waits for ``release()``.
    package var isHolding: Bool { handler.counts.withLock { $0.total > $0.answeredMax } }

    /// The largest number of requests that waited for their answers at one time.
    package var concurrencyMax: Int { handler.counts.withLock { $0.underWayMax } }
}

/// Answers as a script says, else as the site does, and counts.
private final class ScriptedHandler: HTTPHandler {
    struct Counts {
        var total = 0
        /// The number of the last request that may have an answer, counted from 1.
        var answeredMax = Int.max
        var underWay = 0
        var underWayMax = 0
        var byPath: [String: Int] = [:]
    }

    private final class Exchange: HTTPExchange {
        private let handler: ScriptedHandler
        private let site: any HTTPExchange
        private let answer: ScriptedSite.Override.Answer
        /// The number of its request, counted from 1.
        private let number: Int
        private var latency: Duration

        init(_ handler: ScriptedHandler, _ number: Int, _ site: any HTTPExchange, _ override: ScriptedSite.Override?) {
            self.handler = handler
            self.number = number
            self.site = site
            answer = override?.answer ?? .folder
            latency = override?.latency ?? handler.latency
        }

        func receive(_ piece: [UInt8]) { site.receive(piece) }

        func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer {
            if latency > .zero {
                defer { latency = .zero }
                return .later(latency)
            }
            if handler.counts.withLock({ number > $0.answeredMax }) { return .later(.milliseconds(5)) }
            switch answer {
            case .folder: return site.answer(request)
            case .reply(let reply): return .reply(reply)
            case .drop: return .drop
            }
        }

        func end() {
            site.end()
            handler.counts.withLock { $0.underWay -= 1 }
        }
    }

    let counts = Locked(Counts())
    private let site: SiteHandler
    private let latency: Duration
    private let script: ScriptedSite.Script

    init(site: SiteHandler, latency: Duration, script: @escaping ScriptedSite.Script) {
        self.site = site
        self.latency = latency
        self.script = script
    }

    func begin(path: String, method: String) -> any HTTPExchange {
        let number = counts.withLock { counts in
            counts.total += 1
            counts.underWay += 1
            counts.underWayMax = max(counts.underWayMax, counts.underWay)
            counts.byPath[path, default: 0] += 1
            return counts.total
        }
        return Exchange(self, number, site.begin(path: path, method: method), script(path, method))
    }
}
