import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A state that is shown` {
    @Test func `is the one after the seq that is asked for, and an error says that the journal ends before`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        for number in 1...3 { _ = try bench.send(sender, from: UInt64(number), .note) }
        let rows = FollowedRows()
        rows.append(bench.records)
        #expect(try Recovery(showing: Seq(2), of: rows, Lamps(), coder: CBORCoder()).core.seq == Seq(2))
        let error = #expect(throws: RecoveryError.self) {
            try Recovery(showing: Seq(4), of: rows, Lamps(), coder: CBORCoder())
        }
        #expect(error == .endsBefore(Seq(4), at: Seq(3)))
    }
}
