import LoopCore
import LoopExamples
import LoopGallery
import LoopTesting
import Testing

/// The examples over a server that fails, in virtual time: only the server's own slowness is real, and nobody waits for it.
@Suite(.timeLimit(.minutes(1))) struct `The examples, when their server fails` {
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
        let server = try StubServer(data: RepositoryData.folder)
        defer { server.stop() }
        let loop = Loop(Favourites(server: server.address))
        let listed = try await first(loop.states) { $0.list.status == .idle }
        loop.send(.open(listed.list.movies[4]))
        let open = try await first(loop.states) { $0.card?.details != .loading }
        #expect(open.card?.details == .known(.init(director: "Charlie Chaplin", country: "United States")))
    }

    @Test func `a search waits as long as the server asks it to`() async throws {
        let server = try server(.busy)
        defer { server.stop() }
        let (clock, loop) = searching(server)
        loop.send(.typed("kid"))
        clock.advance(by: MovieSearch.rest + .milliseconds(200))
        try await clock.settle { loop.state.status == .postponed("the server asks for patience (429)") }
        clock.advance(by: .milliseconds(999))
        #expect(server.requests["/search/kid/1"] == 1)
        clock.advance(by: .milliseconds(1))
        try await clock.settle { loop.state.status == .idle }
        #expect(loop.state.movies.map(\.title) == ["The Kid"])
        #expect(server.requests["/search/kid/1"] == 2)
    }

    @Test(arguments: [FaultPlan.Fault.error, .drop])
    func `a search tries again by itself, later each time`(fault: FaultPlan.Fault) async throws {
        let server = try server(fault, atMost: 3)
        defer { server.stop() }
        let (clock, loop) = searching(server)
        loop.send(.typed("kid"))
        clock.advance(by: MovieSearch.rest + .milliseconds(200))
        for tries in 1...3 {
            try await clock.settle {
                if case .postponed = loop.state.status { clock.sleepersCount == 1 } else { false }
            }
            #expect(server.requests["/search/kid/1"] == tries)
            // Half of 0.5 s, 1 s, 2 s is drawn at random.
            clock.advance(by: .seconds(2))
        }
        try await clock.settle { loop.state.status == .idle }
        #expect(loop.state.movies.map(\.title) == ["The Kid"])
    }

    @Test func `what is typed next cancels a slow answer`() async throws {
        let server = try server(.slow)
        defer { server.stop() }
        let (clock, loop) = searching(server)
        loop.send(.typed("chaplin"))
        clock.advance(by: MovieSearch.rest + .milliseconds(200))
        while server.requests["/search/chaplin/1"] == nil { await Task.yield() }
        loop.send(.typed("murnau"))
        clock.advance(by: MovieSearch.rest + .milliseconds(200))
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
