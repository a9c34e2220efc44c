internal import LoopCore

extension MovieSearch {
    /// The status of the search.
    package enum Status: Codable, Equatable, Sendable {
        /// Nothing happens until the user types or requests more.
        case idle
        /// The next page is being fetched.
        case loading
        /// An attempt has failed for this reason, and there will be another.
        case postponed(String)
        /// The last attempt has failed, for this reason.
        case failed(String)

        private enum CodingKeys: CodingKey, CaseIterable { case idle, loading, postponed, failed }
    }

    package struct State: Codable, Equatable, Sendable {
        package let server: String
        /// The typed text.
        package var text = ""
        /// The text that is searched for.
        package var query = ""
        /// The newest page of the results.
        package var batch = Movies.Batch(number: 0, count: 1)
        package var movies: [Movies.Movie] = []
        package var status = Status.idle

        package init(server: String) { self.server = server }

        /// Whether there are pages after the newest.
        package var hasMore: Bool { !isBlank && batch.number < batch.count }

        /// Whether there is no search.
        package var isBlank: Bool { query.allSatisfy(\.isWhitespace) }

        /// The typed text if it is not searched for yet.
        package var typing: String? { text == query ? nil : text }

        /// The page to fetch now. It does not change from one attempt to the next.
        package var nextPage: PageRequest? {
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
    package struct PageRequest: Codable, Equatable, Sendable {
        package var server: String
        package var query: String
        package var number: Int

        /// The URL of the page.
        package var url: String { "\(server)search/\(PercentEncoding.encode(query.utf8))/\(number)" }
    }

    /// The events of the search.
    package enum Event: Codable, Equatable, Sendable {
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

        private enum CodingKeys: CodingKey, CaseIterable { case typed, rested, loaded, postponed, failed, more, retry }
    }

    package static let examples: [Event] = [
        .typed("metro"), .rested("metro"),
        .loaded(
            Movies.Answer(
                batch: Movies.Batch(number: 1, count: 2), movies: [Movies.Movie(id: 1, title: "Metropolis", year: 1927)]
            )),
        .postponed("connection refused"), .failed("connection refused"), .more, .retry,
    ]
}
