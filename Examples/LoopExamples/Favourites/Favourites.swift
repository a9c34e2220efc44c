package import LoopCore

/// A parent of two children: the list of ``Movies`` and the open ``MovieCard``. It sees its child's event when the star is
/// pressed, and keeps the favourites. Closing the card cancels the card's effects.
package struct Favourites: LoopDefinition {
    package struct State: Codable, Equatable, Sendable {
        package var list: Movies.State
        /// The open film.
        package var card: MovieCard.State?
        /// The favourites, in the order in which they were added.
        package var favourites: [Movies.Movie] = []

        package init(server: String) { list = Movies.State(server: server) }

        package func isFavourite(_ movie: Movies.Movie) -> Bool { favourites.contains { $0.id == movie.id } }
    }

    /// The events of the page.
    package enum Event: Codable, Equatable, Sendable {
        case list(Movies.Event)
        case card(MovieCard.Event)
        case open(Movies.Movie)
        case close

        private enum CodingKeys: CodingKey, CaseIterable { case list, card, open, close }
    }

    package static let examples: [Event] =
        Movies.examples.map(Event.list) + MovieCard.examples.map(Event.card)
        + [.open(Movies.Movie(id: 1, title: "Metropolis", year: 1927)), .close]

    package static let name = "favourites"
    package static let abstract = "A parent hears what happens in its child: films, one of them open, and favourites."

    /// The root URL of the server, with its closing slash.
    package let server: String

    package init(server: String = "") { self.server = server }

    package var initial: State { State(server: server) }

    package func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        Self.reducer(&state, event, transition)
    }

    /// The children's reducers, followed by the parent's, which sees their events too.
    private static let reducer = Reducer<State, Event>.combine(
        Movies.reducer.pullback(value: \.list, event: CasePath(Event.list)),
        MovieCard.reducer.optional().pullback(value: \.card, event: CasePath(Event.card)),
        Reducer { state, event in
            switch event {
            case .open(let movie):
                state.card = MovieCard.State(
                    server: state.list.server, movie: movie, isFavourite: state.isFavourite(movie))
            case .close: state.card = nil
            case .card(.toggleFavourite):
                guard let card = state.card else { return }
                state.favourites.removeAll { $0.id == card.movie.id }
                if card.isFavourite { state.favourites.append(card.movie) }
            case .list, .card: break
            }
        })

    package var feedbacks: [Feedback<State, Event>] {
        [
            Movies.feedback.pullback(value: \.list, event: CasePath(Event.list)),
            MovieCard.feedback.optional().pullback(value: \.card, event: CasePath(Event.card)),
        ]
    }
}
