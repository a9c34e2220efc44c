extension Movies {
    /// A film in the list.
    public struct Movie: Codable, Equatable, Sendable, Identifiable {
        public var id: Int
        public var title: String
        public var year: Int

        public init(id: Int, title: String, year: Int) {
            self.id = id
            self.title = title
            self.year = year
        }
    }

    /// The number of a page, and the count of pages.
    public struct Batch: Codable, Equatable, Sendable {
        /// The number from 1, or 0 before the first page.
        public var number: Int
        public var count: Int

        public init(number: Int, count: Int) {
            self.number = number
            self.count = count
        }
    }

    /// One page, as in the server's answer.
    public struct Answer: Codable, Equatable, Sendable {
        public var batch: Batch
        public var movies: [Movie]

        public init(batch: Batch, movies: [Movie]) {
            self.batch = batch
            self.movies = movies
        }
    }

    /// The status of the list.
    public enum Status: Codable, Equatable, Sendable {
        /// The next page is being fetched.
        case loading
        /// Nothing happens until the user requests more.
        case idle
        /// The next page could not be fetched, for this reason.
        case failed(String)
    }

    /// The state of the list.
    public struct State: Codable, Equatable, Sendable {
        public let server: String
        /// The newest page.
        public var batch = Batch(number: 0, count: 1)
        /// The films of all pages so far, in the server's order.
        public var movies: [Movie] = []
        public var status = Status.loading

        public init(server: String) { self.server = server }

        /// Whether there are pages after the newest.
        public var hasMore: Bool { batch.number < batch.count }

        /// The page to fetch now.
        public var nextPage: PageRequest? {
            status == .loading ? PageRequest(server: server, number: batch.number + 1) : nil
        }
    }

    /// One page to fetch.
    public struct PageRequest: Codable, Equatable, Sendable {
        public var server: String
        public var number: Int

        /// The URL of the page.
        public var url: String { "\(server)movies/\(number)" }
    }

    /// The events of the list.
    public enum Event: Codable, Equatable, Sendable {
        case loaded(Answer)
        case failed(String)
        /// The user has reached the end of the list.
        case more
        /// The user requests the failed page again.
        case retry
    }

    public static let examples: [Event] = [
        .loaded(Answer(batch: Batch(number: 1, count: 2), movies: [Movie(id: 1, title: "Metropolis", year: 1927)])),
        .failed("connection refused"), .more, .retry,
    ]
}
