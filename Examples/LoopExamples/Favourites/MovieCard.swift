public import LoopCore

/// The details of one film: the child in ``Favourites``. It knows nothing of its parent.
public enum MovieCard {
    /// The server's data on a film.
    public struct Facts: Codable, Equatable, Sendable {
        public var director: String
        public var country: String

        public init(director: String, country: String) {
            self.director = director
            self.country = country
        }
    }

    /// The progress of fetching the facts.
    public enum Details: Codable, Equatable, Sendable {
        case loading
        case known(Facts)
        case failed(String)
    }

    public struct State: Codable, Equatable, Sendable {
        public let server: String
        public let movie: Movies.Movie
        public var isFavourite: Bool
        public var details = Details.loading

        /// The URL of the facts while they are requested.
        public var wanted: String? { details == .loading ? "\(server)movie/\(movie.id)" : nil }
    }

    /// The events of a card.
    public enum Event: Codable, Equatable, Sendable {
        case loaded(Facts)
        case failed(String)
        case retry
        /// The user has pressed the star.
        case toggleFavourite
    }

    /// One event of each case.
    public static let examples: [Event] = [
        .loaded(Facts(director: "Fritz Lang", country: "Germany")), .failed("connection refused"), .retry,
        .toggleFavourite,
    ]

    public static let reducer = Reducer<State, Event> { state, event in
        switch event {
        case .loaded(let facts): state.details = .known(facts)
        case .failed(let reason): state.details = .failed(reason)
        case .retry: state.details = .loading
        case .toggleFavourite: state.isFavourite.toggle()
        }
    }

    /// Fetches the facts, on a worker.
    public static let feedback = Feedback<State, Event>
        .react("facts", request: \.wanted) { (url: String) in
            .task { .loaded(try await JSONResource.get(url, as: Facts.self)) }
        }
        .on(.workers)
        .failing { (_: String, error) in .failed("\(error)") }
}
