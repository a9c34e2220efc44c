import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `Hashing alone` {
    @Test func `come after sixteen events, and not before`() throws {
        var bench = try PartBench()
        var hashing = StateHashing()
        for count in 1...16 {
            try bench.apply(.note)
            hashing.hashIfDue(&bench.journaled, &bench.turn, bench.context)
            #expect(bench.turn.records.isEmpty == (count < 16))
        }
        #expect(bench.turn.records == [.stateHash(Seq(16), bench.journaled.digest().hash)])
    }

    @Test func `of a large state are made elsewhere, once, and journaled under its mark`() throws {
        var configuration = ReducerConfiguration()
        configuration.hashedBytesMax = 0
        var bench = try PartBench(configuration: configuration)
        var hashing = StateHashing()
        bench.journaled.digestedBytes = 1
        for _ in 0..<16 { try bench.apply(.note) }
        let marked = bench.journaled.digest().hash
        hashing.hashIfDue(&bench.journaled, &bench.turn, bench.context)
        for _ in 0..<16 { try bench.apply(.note) }
        hashing.hashIfDue(&bench.journaled, &bench.turn, bench.context)
        let job = try #require(bench.turn.backgroundJobs.first)
        #expect(bench.turn.backgroundJobs.count == 1)
        guard case .digest(let hash, let bytes) = job.run().outcome else {
            Issue.record("the job is no digest")
            return
        }
        hashing.finish(job.number + 1, 0, 0, &bench.journaled, &bench.turn)
        hashing.finish(job.number, hash, bytes, &bench.journaled, &bench.turn)
        #expect(bench.turn.records == [.stateMarked(Seq(16)), .markHash(Seq(16), marked)])
    }
}
