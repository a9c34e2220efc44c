import CBOR
import LoopCore
import LoopTesting
import LoopWire
import Testing

@testable import LoopExamples

@Suite struct `The movie search` {
    private func request(_ query: String, _ number: Int = 1) -> MovieSearch.PageRequest {
        MovieSearch.PageRequest(server: Films.server, query: query, number: number)
    }

    /// Types, lets the typing rest, and waits for the rate.
    private func search(
        _ query: String, _ loop: TestLoop<MovieSearch.State, MovieSearch.Event>
    ) throws -> TestEffect<MovieSearch.State, MovieSearch.Event> {
        try loop.send(.typed(query))
        try loop.expectStart("rest", query).complete(sending: .rested(query))
        let page = try loop.expectWaiting("page", request(query))
        try loop.advance(by: .milliseconds(200))
        try loop.expectStart(page)
        return page
    }

    @Test func `a keystroke starts the pause again`() throws {
        try TestLoop.run(MovieSearch(server: Films.server)) { loop in
            try loop.send(.typed("m")) { $0.text = "m" }
            let first = try loop.expectStart("rest", "m")
            try loop.send(.typed("me")) { $0.text = "me" }
            try loop.expectCancel(first)
            let second = try loop.expectStart("rest", "me")
            try first.send(.rested("m"), refused: .stale)
            try second.complete(sending: .rested("me")) {
                $0.query = "me"
                $0.status = .loading
            }
            // The rate: a loop that begins has no tries saved up.
            let page = try loop.expectWaiting("page", request("me"))
            #expect(try loop.advance() == .milliseconds(200))
            try loop.expectStart(page)
        }
    }

    @Test func `typing rests for 300 milliseconds`() {
        let clock = VirtualClock()
        let loop = Loop(MovieSearch(server: "no server", clock: clock), clock: clock)
        for text in ["c", "ch", "cha"] {
            loop.send(.typed(text))
            clock.advance(by: .milliseconds(299))
            #expect(loop.state.query == "")
        }
        clock.advance(by: .milliseconds(1))
        #expect(loop.state.query == "cha")
    }

    @Test func `pages come until there is none`() throws {
        try TestLoop.run(MovieSearch(server: Films.server), mode: .selective) { loop in
            let first = try search("film", loop)
            try first.complete(sending: .loaded(Films.page(1, of: 2)))
            try loop.send(.more)
            let second = try loop.expectWaiting("page", request("film", 2))
            try loop.advance(by: .milliseconds(200))
            try second.complete(sending: .loaded(Films.page(2, of: 2)))
            try loop.send(.more)
            #expect(loop.state.status == .idle)
            #expect(loop.state.movies.map(\.id) == [1, 2])
        }
    }

    @Test func `a server that asks for patience gets it, and the page says so`() throws {
        try TestLoop.run(MovieSearch(server: Films.server), mode: .withoutStates) { loop in
            let page = try search("film", loop)
            let busy = ServerFailure(status: 429, retryAfterSeconds: 7)
            try page.send(.postponed(busy.description))
            #expect(loop.state.status == .postponed("the server asks for patience (429)"))
            try page.fail(busy)
            try loop.advance(by: .seconds(6))
            try loop.advance(by: .seconds(1))
            try loop.expectStart(page)
            try page.complete(sending: .loaded(Films.page(1, of: 1)))
            #expect(loop.state.status == .idle)
        }
    }

    @Test func `five tries, each later than the one before, and then it is given up until the user wants it`() throws {
        try TestLoop.run(MovieSearch(server: Films.server), mode: .withoutStates) { loop in
            let page = try search("film", loop)
            var delays: [Duration] = []
            for _ in 1..<5 {
                try page.fail(ServerFailure(status: 500))
                delays.append(try loop.advance())
                try loop.expectStart(page)
            }
            #expect(delays == delays.sorted())
            try page.fail(ServerFailure(status: 500))
            try loop.expectEvent(.failed("the server answered 500"))
            #expect(loop.state.status == .failed("the server answered 500"))
            try loop.send(.retry)
            try loop.expectStart("page", request("film"))
        }
    }

    @Test func `what is typed next cancels the page of what was typed before`() throws {
        try TestLoop.run(MovieSearch(server: Films.server), mode: .withoutStates) { loop in
            let slow = try search("slow", loop)
            try loop.send(.typed(""))
            try loop.expectStart("rest", "").complete(sending: .rested(""))
            try loop.expectCancel(slow)
            try slow.send(.loaded(Films.page(1, of: 1)), refused: .stale)
            #expect(loop.state.movies.isEmpty)
            #expect(loop.state.status == .idle)
        }
    }

    @Test func `a search that was kept between two tries goes on with that page`() throws {
        var kept = MovieSearch.State(server: Films.server)
        (kept.text, kept.query, kept.status) = ("film", "film", .postponed("the server answered 500"))
        let definition = MovieSearch(server: Films.server)
        let restored = try CBOR.decode(MovieSearch.State.self, from: CBOR.encode(kept))
        try TestLoop.run(
            initial: restored, reducer: Reducer(definition), feedbacks: definition.feedbacks
        ) { loop in
            try loop.expectWaiting("page", request("film"))
        }
    }

    @Test func `words become one segment of a path`() {
        #expect(request("é/1 ?").url == "http://films.test/search/%C3%A9%2F1%20%3F/1")
    }
}
