import CBOR
internal import LoopApp
internal import LoopCollections
internal import LoopCore
internal import LoopExamples

/// Answers the requests to a ``StubServer``.
final class StubRequestHandler: Sendable {
    private struct Moving {
        var faults: FaultPlan
        var searches: RequestRate
    }

    /// The number of films on a page.
    static let pageLength = 12
    /// How long a slow answer takes.
    static let slowness = Duration.seconds(3)

    private let movies: [StubData.Film]
    private let moving: Locked<Moving>

    init(movies: [StubData.Film], faults: FaultPlan, searches: RequestRate) {
        self.movies = movies
        moving = Locked(Moving(faults: faults, searches: searches))
    }

    /// - Parameter path: the percent-encoded path.
    func answer(_ path: String, at now: ContinuousClock.Instant) -> SiteServer.Override {
        let words = path.split(separator: "/").map { PercentEncoding.decode($0) }
        let answer: SiteServer.Override
        switch (words.first, words.count) {
        case ("movies", 2): answer = page(words[1], of: movies)
        case ("movie", 2):
            answer = Int(words[1]).flatMap { id in movies.first { $0.id == id } }.map(Self.json) ?? .status(404)
        case ("search", 3):
            if let wait = moving.withLock({ $0.searches.take(at: now) }) {
                return .status(429, retryAfterSeconds: max(1, Int(wait.components.seconds) + 1))
            }
            answer = page(words[2], of: found(words[1]))
        default: return .status(404)
        }
        switch moving.withLock({ $0.faults.next() }) {
        case nil: return answer
        case .slow: return answer.after(Self.slowness)
        case .error: return .status(500)
        case .busy: return .status(429, retryAfterSeconds: 1)
        case .drop: return .drop
        }
    }

    private func page(_ number: String, of films: [StubData.Film]) -> SiteServer.Override {
        let count = max(1, (films.count + Self.pageLength - 1) / Self.pageLength)
        guard let number = Int(number), (1...count).contains(number) else { return .status(404) }
        let onPage = films.dropFirst((number - 1) * Self.pageLength).prefix(Self.pageLength)
        return Self.json(
            Movies.Answer(
                batch: Movies.Batch(number: number, count: count),
                movies: onPage.map { Movies.Movie(id: $0.id, title: $0.title, year: $0.year) }))
    }

    /// The films that have every word in their title, director or year.
    private func found(_ query: String) -> [StubData.Film] {
        let words = query.lowercased().split(separator: " ")
        return movies.filter { film in
            let text = "\(film.title) \(film.director) \(film.year)".lowercased()
            return words.allSatisfy { text.contains($0) }
        }
    }

    private static func json(_ value: some Encodable) -> SiteServer.Override {
        guard let bytes = try? CBOR.encode(value), let text = try? CBOR.json(bytes) else { return .status(500) }
        return .text(text, contentType: "application/json")
    }
}

/// The rate limit of a server: a number of requests per second, and some at once after a pause.
struct RequestRate: Equatable, Sendable {
    private let interval: Duration
    private let burst: Int
    /// When the full burst is available again, or nil before the first request.
    private var fullAt: ContinuousClock.Instant?

    init(perSecond: Double, burst: Int) {
        interval = .seconds(1 / perSecond)
        self.burst = burst
    }

    /// Counts one request. It returns nil if the request may be answered, else the time to wait before a retry.
    mutating func take(at now: ContinuousClock.Instant) -> Duration? {
        let next = max(fullAt ?? now, now) + interval
        let wait = now.duration(to: next) - interval * burst
        guard wait <= .zero else { return wait }
        fullAt = next
        return nil
    }
}
