internal import LoopCore

extension MovieSearch {
    /// The status of the search.
    public enum Status: Codable, Equatable, Sendable {
        /// Nothing happens until the user types or requests more.
        case idle
        /// The next page is being fetched.
        case loading
        /// An attempt has failed for this reason, and there will be another.
        case postponed(String)
        /// The last attempt has failed, for this reason.
        case failed(String)
    }

    public struct State: Codable, Equatable, Sendable {
        public let server: String
        /// The typed text.
        public var text = ""
        /// The text that is searched for.
        public var query = ""
        /// The newest page of the results.
        public var batch = Movies.Batch(number: 0, count: 1)
        public var movies: [Movies.Movie] = []
        public var status = Status.idle

        public init(server: String) { self.server = server }

        /// Whether there are pages after the newest.
        public var hasMore: Bool { !isBlank && batch.number < batch.count }

        /// Whether there is no search.
        public var isBlank: Bool { query.allSatisfy(\.isWhitespace) }

        /// The typed text if it is not searched for yet.
        public var typing: String? { text == query ? nil : text }

        /// The page to fetch now. It does not change from one attempt to the next.
        public var nextPage: PageRequest? {
            switch status {
            case .loading, .postponed: PageRequest(server: server, query: query, number: batch.number + 1)
            case .idle, .failed: nil
            }
        }

        /// Begins another search.
        mutating func begin(_ query: String) {
            self.query = query
            batch = Movies.Batch(number: 0, count: 1)
            movies = []
            status = isBlank ? .idle : .loading
        }
    }

    /// One page of the results to fetch.
    public struct PageRequest: Codable, Equatable, Sendable {
        public var server: String
        public var query: String
        public var number: Int

        /// The URL of the page.
        public var url: String { "\(server)search/\(PercentEncoding.encode(query.utf8))/\(number)" }
    }

    /// The events of the search.
    public enum Event: Codable, Equatable, Sendable {
        /// The typed text has changed.
        case typed(String)
        /// The user has paused typing, with this text.
        case rested(String)
        case loaded(Movies.Answer)
        /// An attempt has failed, and there will be another unless it was the last.
        case postponed(String)
        /// The last attempt has failed.
        case failed(String)
        /// The user has reached the end of the list.
        case more
        /// The user requests the failed page again.
        case retry
    }

    public static let examples: [Event] = [
        .typed("metro"), .rested("metro"),
        .loaded(
            Movies.Answer(
                batch: Movies.Batch(number: 1, count: 2), movies: [Movies.Movie(id: 1, title: "Metropolis", year: 1927)]
            )),
        .postponed("connection refused"), .failed("connection refused"), .more, .retry,
    ]
}
