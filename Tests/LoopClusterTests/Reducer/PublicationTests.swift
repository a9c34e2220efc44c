import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct Publication {
    @Test func `acknowledges from where the peer was told last, once for each turn`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let entry = try bench.event(.note)
        let batches = (1...2).map { bench.batch(session, from: $0, [entry]) }
        func frame(_ message: ToPeer) -> PeerFrame {
            PeerFrame(history: bench.machine.history, epoch: bench.machine.epoch, session: session, message: message)
        }
        let both = bench.turn { machine in for batch in batches { machine.receive(batch, by: .unknown) } }
        #expect(both == [.inbox(client, frame(acknowledged(0, 2)))])
        #expect(try bench.send(session, from: 3, .note) == [.inbox(client, frame(acknowledged(2, 3)))])
        #expect(bench.turn() == [])
    }

    @Test func `ticks at its interval`() throws {
        var bench = try PartBench()
        var ticks = Ticks(at: bench.now)
        #expect(ticks.begin(.initial, bench.context) == true)
        #expect(ticks.begin(.initial, bench.context) == false)
        #expect(ticks.nextAt == bench.now + .milliseconds(500))
        bench.pass(500)
        #expect(ticks.begin(.initial, bench.context) == true)
    }
}
