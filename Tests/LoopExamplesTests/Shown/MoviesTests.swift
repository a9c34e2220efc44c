import CBOR
import LoopCore
import LoopSimulation
import LoopTesting
import LoopWire
import Testing

@testable import LoopExamples

@Suite struct `The movies` {
    private func request(_ number: Int) -> Movies.PageRequest {
        Movies.PageRequest(server: Films.server, number: number)
    }

    @Test func `page after page comes when it is wanted, until there is none`() throws {
        try TestLoop.run(Movies(server: Films.server)) { loop in
            let first = try loop.expectStart("page", request(1))
            try first.complete(sending: .loaded(Films.page(1, of: 2))) {
                $0.batch = Movies.Batch(number: 1, count: 2)
                $0.movies = [Films.film(1)]
                $0.status = .idle
            }
            try loop.send(.more) { $0.status = .loading }
            let second = try loop.expectStart("page", request(2))
            // A view at the end of the list says so repeatedly.
            try loop.send(.more)
            try second.complete(sending: .loaded(Films.page(2, of: 2))) {
                $0.batch.number = 2
                $0.movies.append(Films.film(2))
                $0.status = .idle
            }
            try loop.send(.more)
        }
    }

    @Test func `a failure is shown, and the same page is fetched once more when that is wanted`() throws {
        try TestLoop.run(Movies(server: Films.server)) { loop in
            let first = try loop.expectStart("page", request(1))
            try first.fail(ServerFailure(status: 500))
            try loop.expectEvent(.failed("the server answered 500")) { $0.status = .failed("the server answered 500") }
            try loop.send(.more)
            try loop.send(.retry) { $0.status = .loading }
            let again = try loop.expectStart("page", request(1))
            try loop.send(.retry)
            try again.complete(sending: .loaded(Films.page(1, of: 1))) {
                $0.batch = Movies.Batch(number: 1, count: 1)
                $0.movies = [Films.film(1)]
                $0.status = .idle
            }
        }
    }

    @Test func `a list that was kept in the middle of a page goes on with that page`() throws {
        var kept = Movies.State(server: Films.server)
        kept.batch = Movies.Batch(number: 1, count: 3)
        kept.movies = [Films.film(1)]
        let restored = try CBOR.decode(Movies.State.self, from: CBOR.encode(kept))
        #expect(restored == kept)
        try TestLoop.run(initial: restored, reducer: Movies.reducer, feedbacks: [Movies.feedback]) { loop in
            let second = try loop.expectStart("page", request(2))
            try second.complete(sending: .loaded(Films.page(2, of: 3))) {
                $0.batch.number = 2
                $0.movies.append(Films.film(2))
                $0.status = .idle
            }
        }
    }

    @Test(arguments: 0..<5 as Range<UInt64>)
    func `the list in a cluster is the same whatever fails`(seed: UInt64) throws {
        let cluster = SimulatedCluster(Movies(server: Films.server), seed: seed, faults: .all, duration: .seconds(60))
        cluster.answer("page") { (page: Movies.PageRequest, effect: inout SimulatedEffect<Movies.Event>) in
            effect.pause(upTo: .seconds(1))
            effect.send(.loaded(Films.page(page.number, of: 3)))
        }
        for second in 5..<55 { cluster.send(.more, at: .seconds(second)) }
        cluster.invariant("films come once each, in order") { state in
            state.movies.map(\.id) == (0..<state.movies.count).map { $0 + 1 }
        }
        let state = try cluster.run().state
        #expect(state.movies.map(\.id) == [1, 2, 3])
    }
}
