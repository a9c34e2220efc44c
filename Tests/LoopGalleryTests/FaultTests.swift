import LoopCore
import LoopExamples
import LoopGallery
import Testing

/// The examples run over a server that fails. No test waits for its slowness.
@Suite(.timeLimit(.minutes(5))) struct `The examples, when their server fails` {
    private func server(_ fault: FaultPlan.Fault) throws -> StubServer {
        try StubServer(data: RepositoryData.folder, faults: FaultPlan([fault], atMost: 1))
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

    @Test func `another film cancels a slow answer`() async throws {
        // The second answer is slow: the list comes, and the facts of the first film do not.
        let server = try StubServer(
            data: RepositoryData.folder, faults: FaultPlan([.slow], share: 0.5, atMost: 1, seed: 0))
        defer { server.stop() }
        let loop = Loop(Favourites(server: server.address))
        let listed = try await first(loop.states) { $0.list.status == .idle }
        loop.send(.open(listed.list.movies[0]))
        while server.requests["/movie/1"] == nil {
            try Task.checkCancellation()
            await Task.yield()
        }
        loop.send(.open(listed.list.movies[4]))
        let known = try await first(loop.states) { $0.card.map { $0.details != .loading } ?? false }
        #expect(known.card?.movie.title == "The Kid")
        #expect(known.card?.details == .known(.init(director: "Charlie Chaplin", country: "United States")))
    }
}
