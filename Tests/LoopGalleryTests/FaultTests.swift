import LoopCore
import LoopExamples
import LoopGallery
import LoopTesting
import Testing

/// The examples run over a server that fails, in virtual time. Only the server's own slowness is real, and no test waits for it.
@Suite(.timeLimit(.minutes(5))) struct `The examples, when their server fails` {
    private func server(_ fault: FaultPlan.Fault, atMost: Int = 1) throws -> StubServer {
        try StubServer(
            data: RepositoryData.folder, faults: FaultPlan([fault], atMost: atMost), searchesPerSecond: 1000)
    }

    /// The first state that is as wanted.
    private func first<State: Sendable>(
        _ states: some AsyncSequence<State, Never>, where isWanted: (State) -> Bool
    ) async throws -> State {
        for await state in states where isWanted(state) { return state }
        throw CancellationError()
    }

    @Test(arguments: [
        (FaultPlan.Fault.error, "the server answered 500"), (.busy, "the server asks for patience (429)"),
        (.drop, "cannot fetch"),
    ])
    func `movies show the failure, and another try brings the page`(fault: FaultPlan.Fault, words: String) async throws
    {
        let server = try server(fault)
        defer { server.stop() }
        let loop = Loop(Movies(server: server.address))
        let failed = try await first(loop.states) { $0.status != .loading }
        guard case .failed(let reason) = failed.status else {
            Issue.record("\(failed.status) is no failure")
            return
        }
        #expect(reason.contains(words))
        loop.send(.retry)
        let loaded = try await first(loop.states) { $0.status == .idle }
        #expect(loaded.movies.first?.title == "A Trip to the Moon")
        #expect(loaded.batch == Movies.Batch(number: 1, count: 8))
        #expect(server.requests["/movies/1"] == 2)
    }

    @Test func `all pages come, in their order, once each`() async throws {
        let server = try StubServer(
            data: RepositoryData.folder, faults: FaultPlan([.error, .drop], share: 0.5, seed: 3))
        defer { server.stop() }
        let loop = Loop(Movies(server: server.address))
        for await state in loop.states {
            switch state.status {
            case .loading: continue
            case .failed: loop.send(.retry)
            case .idle: if state.hasMore { loop.send(.more) } else { loop.stop() }
            }
        }
        #expect(loop.state.movies.map(\.id) == Array(1...96))
        #expect(server.requests.values.reduce(0, +) > 8)
    }

    @Test func `facts that did not come are looked up again`() async throws {
        // The second answer goes wrong: the list comes, and the facts do not.
        let server = try StubServer(
            data: RepositoryData.folder, faults: FaultPlan([.error], share: 0.5, atMost: 1, seed: 0))
        defer { server.stop() }
        let loop = Loop(Favourites(server: server.address))
        let listed = try await first(loop.states) { $0.list.status == .idle }
        // A thread that still delivers this state takes the event later: the next state to come may be older than the event.
        loop.send(.open(listed.list.movies[4]))
        let failed = try await first(loop.states) { $0.card.map { $0.details != .loading } ?? false }
        #expect(failed.card?.details == .failed("the server answered 500"))
        loop.send(.card(.retry))
        let known = try await first(loop.states) { $0.card?.details != .loading && $0 != failed }
        #expect(known.card?.details == .known(.init(director: "Charlie Chaplin", country: "United States")))
        #expect(server.requests["/movie/5"] == 2)
    }

    @Test func `a search waits as long as the server asks it to`() async throws {
        let server = try server(.busy)
        defer { server.stop() }
        let (clock, loop) = searching(server)
        loop.send(.typed("kid"))
        clock.advance(by: MovieSearch.rest)
        try await clock.settle { loop.state.status == .postponed("the server asks for patience (429)") }
        clock.advance(by: .milliseconds(999))
        #expect(server.requests["/search/kid/1"] == 1)
        clock.advance(by: .milliseconds(1))
        try await clock.settle { loop.state.status == .idle }
        #expect(loop.state.movies.map(\.title) == ["The Kid"])
        #expect(server.requests["/search/kid/1"] == 2)
    }

    @Test(arguments: [FaultPlan.Fault.error, .drop])
    func `a search tries again by itself, as often as it takes`(fault: FaultPlan.Fault) async throws {
        let server = try server(fault, atMost: 3)
        defer { server.stop() }
        let (clock, loop) = searching(server)
        loop.send(.typed("kid"))
        clock.advance(by: MovieSearch.rest)
        var reasons: Set<String> = []
        while loop.state.status != .idle {
            // An answer of the server, or a pause before the next try.
            try await clock.settle { loop.state.status == .idle || clock.sleepersCount > 0 }
            if case .postponed(let reason) = loop.state.status { reasons.insert(reason) }
            clock.advance(by: .milliseconds(250))
        }
        #expect(loop.state.movies.map(\.title) == ["The Kid"])
        #expect(server.requests["/search/kid/1"] == 4)
        #expect(reasons.count == 1)
    }

    @Test func `what is typed next cancels a slow answer`() async throws {
        let server = try server(.slow)
        defer { server.stop() }
        let (clock, loop) = searching(server)
        loop.send(.typed("chaplin"))
        clock.advance(by: MovieSearch.rest)
        while server.requests["/search/chaplin/1"] == nil {
            // What becomes ready by another thread's doing runs here.
            clock.settle()
            try Task.checkCancellation()
            await Task.yield()
        }
        loop.send(.typed("murnau"))
        clock.advance(by: MovieSearch.rest)
        try await clock.settle { loop.state.status == .idle }
        #expect(loop.state.query == "murnau")
        #expect(loop.state.movies.map(\.title) == ["Nosferatu", "The Last Laugh", "Sunrise"])
    }

    private func searching(
        _ server: StubServer
    ) -> (clock: VirtualClock, loop: Loop<MovieSearch.State, MovieSearch.Event>) {
        let clock = VirtualClock()
        return (clock, Loop(MovieSearch(server: server.address, clock: clock), clock: clock))
    }
}
