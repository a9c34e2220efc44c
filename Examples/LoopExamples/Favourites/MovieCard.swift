package import LoopCore

/// The details of one film: the child in ``Favourites``. It knows nothing of its parent.
package enum MovieCard {
    /// The server's data on a film.
    package struct Facts: Codable, Equatable, Sendable {
        package var director: String
        package var country: String

        package init(director: String, country: String) {
            self.director = director
            self.country = country
        }
    }

    /// The progress of fetching the facts.
    package enum Details: Codable, Equatable, Sendable {
        case loading
        case known(Facts)
        case failed(String)

        private enum CodingKeys: CodingKey, CaseIterable { case loading, known, failed }
    }

    package struct State: Codable, Equatable, Sendable {
        package let server: String
        package let movie: Movies.Movie
        package var isFavourite: Bool
        package var details = Details.loading

        /// The URL of the facts while they are requested.
        package var wanted: String? { details == .loading ? "\(server)movie/\(movie.id)" : nil }
    }

    /// The events of a card.
    package enum Event: Codable, Equatable, Sendable {
        case loaded(Facts)
        case failed(String)
        case retry
        /// The user has pressed the star.
        case toggleFavourite

        private enum CodingKeys: CodingKey, CaseIterable { case loaded, failed, retry, toggleFavourite }
    }

    /// One event of each case.
    package static let examples: [Event] = [
        .loaded(Facts(director: "Fritz Lang", country: "Germany")), .failed("connection refused"), .retry,
        .toggleFavourite,
    ]

    package static let reducer = Reducer<State, Event> { state, event in
        switch event {
        case .loaded(let facts): state.details = .known(facts)
        case .failed(let reason): state.details = .failed(reason)
        case .retry: state.details = .loading
        case .toggleFavourite: state.isFavourite.toggle()
        }
    }

    /// Fetches the facts, on a worker.
    package static let feedback = Feedback<State, Event>
        .react("facts", request: \.wanted) { (url: String) in
            .task { .loaded(try await JSONResource.get(url, as: Facts.self)) }
        }
        .on(.workers)
        .failing { (_: String, error) in .failed("\(error)") }
}
