extension Movies {
    /// A film in the list.
    package struct Movie: Codable, Equatable, Sendable, Identifiable {
        package var id: Int
        package var title: String
        package var year: Int

        package init(id: Int, title: String, year: Int) {
            self.id = id
            self.title = title
            self.year = year
        }
    }

    /// The number of a page, and the count of pages.
    package struct Batch: Codable, Equatable, Sendable {
        /// The number from 1, or 0 before the first page.
        package var number: Int
        package var count: Int

        package init(number: Int, count: Int) {
            self.number = number
            self.count = count
        }
    }

    /// One page, as in the server's answer.
    package struct Answer: Codable, Equatable, Sendable {
        package var batch: Batch
        package var movies: [Movie]

        package init(batch: Batch, movies: [Movie]) {
            self.batch = batch
            self.movies = movies
        }
    }

    /// The status of the list.
    package enum Status: Codable, Equatable, Sendable {
        /// The next page is being fetched.
        case loading
        /// Nothing happens until the user requests more.
        case idle
        /// The next page could not be fetched, for this reason.
        case failed(String)

        private enum CodingKeys: CodingKey, CaseIterable { case loading, idle, failed }
    }

    /// The state of the list.
    package struct State: Codable, Equatable, Sendable {
        package let server: String
        /// The newest page.
        package var batch = Batch(number: 0, count: 1)
        /// The films of all pages so far, in the server's order.
        package var movies: [Movie] = []
        package var status = Status.loading

        package init(server: String) { self.server = server }

        /// Whether there are pages after the newest.
        package var hasMore: Bool { batch.number < batch.count }

        /// The page to fetch now.
        package var nextPage: PageRequest? {
            status == .loading ? PageRequest(server: server, number: batch.number + 1) : nil
        }
    }

    /// One page to fetch.
    package struct PageRequest: Codable, Equatable, Sendable {
        package var server: String
        package var number: Int

        /// The URL of the page.
        package var url: String { "\(server)movies/\(number)" }
    }

    /// The events of the list.
    package enum Event: Codable, Equatable, Sendable {
        case loaded(Answer)
        case failed(String)
        /// The user has reached the end of the list.
        case more
        /// The user requests the failed page again.
        case retry

        private enum CodingKeys: CodingKey, CaseIterable { case loaded, failed, more, retry }
    }

    package static let examples: [Event] = [
        .loaded(Answer(batch: Batch(number: 1, count: 2), movies: [Movie(id: 1, title: "Metropolis", year: 1927)])),
        .failed("connection refused"), .more, .retry,
    ]
}
