import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `Hashes of a large state` {
    /// A bench whose every state is large.
    private static func bench(replaying records: [Record] = []) throws -> ReducerBench {
        var configuration = ReducerConfiguration()
        configuration.hashedBytesMax = 1
        return try ReducerBench(configuration: configuration, replaying: records)
    }

    /// A bench with a small hash at seq 16, which tells how large the state is, and a mark at a later seq; and the background job.
    private static func marked(_ bench: inout ReducerBench) throws -> (sender: SessionID, next: UInt64, BackgroundJob) {
        let sender = bench.join(client, capacity: 0)
        var next = UInt64(1)
        while true {
            _ = try bench.send(sender, from: next, .light("lamp \(next)", 1))
            next += 1
            if let job = bench.takeBackgroundJobs().first { return (sender, next, job) }
            try #require(next < 1000, "the state was never marked")
        }
    }

    private static func marks(_ records: [Record]) -> [Record] {
        records.filter {
            switch $0 {
            case .stateMarked, .markHash: true
            default: false
            }
        }
    }

    @Test func `are made by a background job while events go on, and come after them`() throws {
        var bench = try Self.bench()
        let (sender, next, job) = try Self.marked(&bench)
        let seq = bench.machine.seq
        #expect(bench.records.last == .stateMarked(seq))
        let digest = bench.machine.journaled.digest().hash
        for number in next..<next + 5 { _ = try bench.send(sender, from: number, .light("another \(number)", 1)) }
        #expect(bench.machine.journaled.digest().hash != digest)
        let result = job.run()
        bench.turn { $0.receive(result) }
        #expect(Self.marks(bench.records) == [.stateMarked(seq), .markHash(seq, digest)])
        // Once is enough.
        bench.turn { $0.receive(result) }
        #expect(Self.marks(bench.records).count == 2)
    }

    @Test func `are compared by a replay with what was there at the mark`() throws {
        var bench = try Self.bench()
        let (sender, next, job) = try Self.marked(&bench)
        let seq = bench.machine.seq
        for number in next..<next + 5 { _ = try bench.send(sender, from: number, .light("another \(number)", 1)) }
        bench.turn { $0.receive(job.run()) }
        _ = try Self.bench(replaying: bench.records)
        let altered = bench.records.map { record -> Record in
            guard case .event(var event) = record, event.seq == seq else { return record }
            event.bytes = event.bytes.dropLast() + [0x02]
            return .event(event)
        }
        let found = #expect(throws: RecoveryError.self) { _ = try Self.bench(replaying: altered) }
        #expect(found?.difference?.seq == seq)
    }

    @Test func `are passed over by a replay that began after the mark`() throws {
        var bench = try Self.bench()
        let (sender, next, job) = try Self.marked(&bench)
        _ = try bench.send(sender, from: next, .note)
        let snapshot = try bench.machine.journaled.snapshot()
        let count = bench.records.count
        bench.turn { $0.receive(job.run()) }
        var restored = try JournaledState(restoring: snapshot, definition: Lamps(), coder: CBORCoder())
        for record in bench.records[count...] { try restored.apply(record) }
        #expect(try restored.differences(from: bench.machine.journaled).isEmpty)
    }

    @Test func `of a background job of an earlier machine are no hashes of this one`() throws {
        var bench = try Self.bench()
        let (_, _, job) = try Self.marked(&bench)
        var again = try Self.bench(replaying: bench.records)
        let (_, _, own) = try Self.marked(&again)
        let count = Self.marks(again.records).count
        again.turn { $0.receive(job.run()) }
        #expect(Self.marks(again.records).count == count)
        again.turn { $0.receive(own.run()) }
        #expect(Self.marks(again.records).count == count + 1)
    }
}
