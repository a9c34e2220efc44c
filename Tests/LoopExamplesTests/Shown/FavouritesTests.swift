import CBOR
import LoopCore
import LoopTesting
import LoopWire
import Testing

@testable import LoopExamples

@Suite struct `The favourites` {
    private let facts = MovieCard.Facts(director: "Carol Reed", country: "United Kingdom")

    private func card(_ id: Int, isFavourite: Bool = false) -> MovieCard.State {
        MovieCard.State(server: Films.server, movie: Films.film(id), isFavourite: isFavourite)
    }

    /// A loop whose list has three films.
    private func listed() -> Favourites.State {
        var state = Favourites.State(server: Films.server)
        state.list.batch = Movies.Batch(number: 1, count: 1)
        state.list.movies = (1...3).map(Films.film)
        state.list.status = .idle
        return state
    }

    private func run(
        _ initial: Favourites.State, _ test: (TestLoop<Favourites.State, Favourites.Event>) throws -> Void
    ) throws {
        let definition = Favourites(server: Films.server)
        try TestLoop.run(
            initial: initial, reducer: Reducer(definition), feedbacks: definition.feedbacks, test)
    }

    @Test func `the list is that of the movies`() throws {
        try TestLoop.run(Favourites(server: Films.server)) { loop in
            let page = try loop.expectStart("page", Movies.PageRequest(server: Films.server, number: 1))
            try page.complete(sending: .list(.loaded(Films.page(1, of: 1)))) {
                $0.list.batch = Movies.Batch(number: 1, count: 1)
                $0.list.movies = [Films.film(1)]
                $0.list.status = .idle
            }
        }
    }

    @Test func `the parent hears that the child's star was pressed`() throws {
        try run(listed()) { loop in
            for id in [2, 1] {
                try loop.send(.open(Films.film(id))) { $0.card = card(id) }
                let fetch = try loop.expectStart("facts", "\(Films.server)movie/\(id)")
                try fetch.complete(sending: .card(.loaded(facts))) { $0.card?.details = .known(facts) }
                try loop.send(.card(.toggleFavourite)) {
                    $0.card?.isFavourite = true
                    $0.favourites.append(Films.film(id))
                }
                try loop.send(.close) { $0.card = nil }
            }
            #expect(loop.state.favourites.map(\.id) == [2, 1])
            // The card of a favourite is one from the start.
            try loop.send(.open(Films.film(2))) { $0.card = card(2, isFavourite: true) }
            try loop.expectStart("facts")
            try loop.send(.card(.toggleFavourite)) {
                $0.card?.isFavourite = false
                $0.favourites = [Films.film(1)]
            }
        }
    }

    @Test func `closing a card, or opening another, cancels what it had going on`() throws {
        try run(listed()) { loop in
            try loop.send(.open(Films.film(1))) { $0.card = card(1) }
            let first = try loop.expectStart("facts", "\(Films.server)movie/1")
            try loop.send(.open(Films.film(2))) { $0.card = card(2) }
            try loop.expectCancel(first)
            let second = try loop.expectStart("facts", "\(Films.server)movie/2")
            try first.send(.card(.loaded(facts)), refused: .stale)
            try loop.send(.close) { $0.card = nil }
            try loop.expectCancel(second)
            try second.send(.card(.loaded(facts)), refused: .stale)
        }
    }

    @Test func `events of a card that is closed change nothing`() throws {
        try run(listed()) { loop in
            try loop.send(.card(.toggleFavourite))
            try loop.send(.card(.loaded(facts)))
        }
    }

    @Test func `facts that could not be fetched can be fetched once more`() throws {
        try run(listed()) { loop in
            try loop.send(.open(Films.film(3))) { $0.card = card(3) }
            try loop.expectStart("facts").fail(ServerFailure("the connection was lost"))
            try loop.expectEvent(.card(.failed("the connection was lost"))) {
                $0.card?.details = .failed("the connection was lost")
            }
            try loop.send(.card(.retry)) { $0.card?.details = .loading }
            let again = try loop.expectStart("facts", "\(Films.server)movie/3")
            try again.complete(sending: .card(.loaded(facts))) { $0.card?.details = .known(facts) }
        }
    }

    @Test func `a card that was kept open looks its facts up again after a restart`() throws {
        var kept = listed()
        kept.card = card(2)
        try run(try CBOR.decode(Favourites.State.self, from: CBOR.encode(kept))) { loop in
            try loop.expectStart("facts", "\(Films.server)movie/2")
        }
    }
}
