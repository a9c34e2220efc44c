import LoopCluster
import LoopCore
import LoopWire
import Testing

/// Every tick named the durable watermark as received: with 10,000 effects that ended at once, whatever waited in the reducer's
/// sockets was sent again and again.
@Suite struct `A slow reducer` {
    /// A peer that has sent three entries.
    private func sender() -> PeerBench {
        var bench = PeerBench()
        bench.join()
        for _ in 0..<3 { _ = bench.send() }
        bench.push()
        return bench
    }

    /// A tick that is made, and heard, after this time.
    private func tick(_ bench: inout PeerBench, after milliseconds: Int64 = 500, received: UInt64) {
        bench.time += milliseconds
        let stamp = UInt64(bench.time) * 1_000_000
        _ = bench.publish(.tick(Tick(number: 0, watermark: 0, received: received, stamp: stamp, resend: false)))
    }

    @Test func `is not sent again what waits to be read`() {
        var bench = sender()
        for _ in 0..<5 { tick(&bench, received: .max) }
        #expect(bench.machine.nextBatch() == nil)
    }

    @Test func `is not sent again what left after its first tick`() {
        var bench = sender()
        // Made before the entries left, and heard late.
        tick(&bench, after: 1500, received: 0)
        #expect(bench.machine.nextBatch() == nil)
        tick(&bench, received: 2)
        #expect(bench.machine.nextBatch() == nil)
    }

    @Test func `is sent again what it has not read for two intervals, and nothing else`() {
        var bench = sender()
        tick(&bench, received: 2)
        tick(&bench, received: 2)
        #expect(bench.machine.nextBatch() == nil)
        tick(&bench, received: 2)
        #expect(bench.machine.nextBatch()?.first == 3)
        #expect(bench.machine.nextBatch() == nil)
        // And not at once a second time.
        tick(&bench, received: 2)
        #expect(bench.machine.nextBatch() == nil)
    }

    @Test func `names what it has read, and nothing as missing while batches wait unread`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        _ = try bench.send(session, from: 1, .note, .note)
        #expect(received(bench.turn(after: 500)) == [2])
        #expect(received(bench.turn(after: 500) { $0.notice(ShellFacts(hasUnreadBatches: true)) }) == [.max])
        // A gap is one, whatever waits after it.
        #expect(received(try bench.send(session, from: 5, .note)) == [2])
        #expect(received(bench.turn(after: 500) { $0.notice(ShellFacts(hasUnreadBatches: false)) }) == [2])
    }

    private func received(_ outbound: [Outbound]) -> [UInt64] {
        outbound.compactMap { message in
            guard case .inbox(client, let frame) = message, case .tick(let tick) = frame.message else { return nil }
            return tick.received
        }
    }
}
