import CBOR
internal import LoopApp
internal import LoopCollections
internal import LoopExamples
internal import LoopNode

/// Answers the requests to a ``StubServer``.
final class StubRequestHandler: HTTPHandler {
    private struct Moving {
        var faults: FaultPlan
        var requests: [String: Int] = [:]
    }

    /// One request, whose answer is decided when it begins.
    private final class Exchange: HTTPExchange {
        /// The names that the server answers to.
        private static let origin = OriginCheck.loopback("127.0.0.1")

        /// The answer, or nil if the connection is closed.
        private let reply: HTTPReply?
        private var latency: Duration

        init(_ answer: (reply: HTTPReply?, latency: Duration)) { (reply, latency) = answer }

        func receive(_ piece: [UInt8]) {}

        func answer(_ request: borrowing HTTPRequest) -> HTTPAnswer {
            if latency > .zero {
                defer { latency = .zero }
                return .later(latency)
            }
            if let host = request.header("Host"), !Self.origin.isOurs(host: host) {
                return .reply(.page(status: 421))
            }
            guard let reply else { return .drop }
            return .reply(reply)
        }

        func end() {}
    }

    /// The number of films on a page.
    static let pageLength = 12
    /// How long a slow answer takes.
    static let slowness = Duration.seconds(3)

    private let movies: [StubData.Film]
    private let moving: Locked<Moving>

    init(movies: [StubData.Film], faults: FaultPlan) {
        self.movies = movies
        moving = Locked(Moving(faults: faults))
    }

    /// The number of requests for each path.
    var requests: [String: Int] { moving.withLock { $0.requests } }

    func begin(path: String, method: String) -> any HTTPExchange {
        moving.withLock { $0.requests[path, default: 0] += 1 }
        return Exchange(answer(path))
    }

    /// The answer to a path, or nil to close the connection, and how long it takes.
    private func answer(_ path: String) -> (reply: HTTPReply?, latency: Duration) {
        let words = path.split(separator: "/")
        let reply: HTTPReply
        switch (words.first, words.count) {
        case ("movies", 2): reply = page(words[1])
        case ("movie", 2):
            reply = Int(words[1]).flatMap { id in movies.first { $0.id == id } }.map(Self.json) ?? .page(status: 404)
        default: return (.page(status: 404), .zero)
        }
        switch moving.withLock({ $0.faults.next() }) {
        case nil: return (reply, .zero)
        case .slow: return (reply, Self.slowness)
        case .error: return (.page(status: 500), .zero)
        case .busy: return (.page(status: 429), .zero)
        case .drop: return (nil, .zero)
        }
    }

    private func page(_ number: Substring) -> HTTPReply {
        let count = max(1, (movies.count + Self.pageLength - 1) / Self.pageLength)
        guard let number = Int(number), (1...count).contains(number) else { return .page(status: 404) }
        let onPage = movies.dropFirst((number - 1) * Self.pageLength).prefix(Self.pageLength)
        return Self.json(
            Movies.Answer(
                batch: Movies.Batch(number: number, count: count),
                movies: onPage.map { Movies.Movie(id: $0.id, title: $0.title, year: $0.year) }))
    }

    private static func json(_ value: some Encodable) -> HTTPReply {
        guard let bytes = try? CBOR.encode(value), let text = try? CBOR.json(bytes) else { return .page(status: 500) }
        let headers = [("Content-Type", "application/json")] + HTTPReply.siteHeaders
        return HTTPReply(status: 200, headers: headers, body: Array(text.utf8))
    }
}
