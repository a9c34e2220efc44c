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

    /// Which page of how many.
    public struct Batch: Codable, Equatable, Sendable {
        /// From 1; 0 before the first has come.
        public var number: Int
        public var count: Int

        public init(number: Int, count: Int) {
            self.number = number
            self.count = count
        }
    }

    /// One page, as the server answers.
    public struct Answer: Codable, Equatable, Sendable {
        public var batch: Batch
        public var movies: [Movie]

        public init(batch: Batch, movies: [Movie]) {
            self.batch = batch
            self.movies = movies
        }
    }

    /// What is going on.
    public enum Status: Codable, Equatable, Sendable {
        /// The next page is being fetched.
        case loading
        /// Nothing, until the user wants more.
        case idle
        /// The next page could not be fetched, and why.
        case failed(String)
    }

    /// What is known.
    public struct State: Codable, Equatable, Sendable {
        public let server: String
        /// The newest page.
        public var batch = Batch(number: 0, count: 1)
        /// The films of all pages so far, in the server's order.
        public var movies: [Movie] = []
        public var status = Status.loading

        public init(server: String) { self.server = server }

        /// Whether there are pages beyond the newest.
        public var hasMore: Bool { batch.number < batch.count }

        /// The page to be fetched now.
        public var nextPage: PageRequest? {
            status == .loading ? PageRequest(server: server, number: batch.number + 1) : nil
        }
    }

    /// One page to fetch.
    public struct PageRequest: Codable, Equatable, Sendable {
        public var server: String
        public var number: Int

        public init(server: String, number: Int) {
            self.server = server
            self.number = number
        }

        /// Where the page is.
        public var url: String { "\(server)movies/\(number)" }
    }

    /// What has happened.
    public enum Event: Codable, Equatable, Sendable {
        case loaded(Answer)
        case failed(String)
        /// The user has reached the end of the list.
        case more
        /// The user wants the failed page again.
        case retry
    }

    public static let examples: [Event] = [
        .loaded(Answer(batch: Batch(number: 1, count: 2), movies: [Movie(id: 1, title: "Metropolis", year: 1927)])),
        .failed("connection refused"), .more, .retry,
    ]
}
