import LoopExamples
import LoopFetch
import Testing

@testable import LoopGallery

@Suite(.timeLimit(.minutes(5))) struct `The examples' server` {
    private func ask(_ server: StubServer, _ path: String) async throws -> FetchResponse {
        try await Fetcher().fetch(FetchRequest(server.address + path))
    }

    @Test func `has pages and films`() async throws {
        let server = try StubServer(data: RepositoryData.folder)
        defer { server.stop() }
        let page = try await ask(server, "movies/8")
        #expect(page.status == 200)
        #expect(page.mediaType == "application/json")
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(
            text.hasPrefix(#"{"batch":{"count":8,"number":8},"movies":[{"id":85,"year":1960,"title":"Breathless"}"#))
        let film = String(decoding: try await ask(server, "movie/53").body, as: UTF8.self)
        #expect(film.contains(#""director":"Carol Reed""#))
    }

    @Test(arguments: ["", "movies", "movies/0", "movies/9", "movies/x", "movie/97", "search/kid/1", "movies.json/1"])
    func `has nothing else`(path: String) async throws {
        let server = try StubServer(data: RepositoryData.folder)
        defer { server.stop() }
        #expect(try await ask(server, path).status == 404)
    }

    @Test func `the same seed makes the same faults, as many as were asked for`() {
        func faults(_ seed: UInt64) -> [FaultPlan.Fault?] {
            var plan = FaultPlan([.slow, .drop], share: 0.5, atMost: 5, seed: seed)
            return (0..<40).map { _ in plan.next() }
        }
        #expect(faults(1) == faults(1))
        #expect(faults(1) != faults(2))
        #expect(faults(1).compactMap { $0 }.count == 5)
        var none = FaultPlan()
        #expect(none.next() == nil)
    }

    @Test func `says which data it cannot read`() {
        let error = #expect(throws: StubData.Unreadable.self) { try StubServer(data: "/nowhere") }
        #expect(error?.description == "/nowhere/movies.json cannot be read: No such file or directory")
    }
}
