import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A peer's inbox` {
    @Test func `is applied in order; after a gap nothing is, until the whole assignment`() {
        var bench = PeerBench()
        bench.join()
        #expect(bench.publish(.commands(number: 2, [.start(bench.grant)])) == [])
        #expect(bench.wait().contains(.send(.assignmentsRequest(bench.session, bench.epoch))))
        #expect(bench.publish(.commands(number: 3, [.cancel(bench.grant.effect, bench.grant.attempt)])) == [])
        let set = Assignments(number: 3, watermark: 0, grants: [bench.grant])
        #expect(bench.reply(.assignments(set)) == [.run(bench.grant)])
        #expect(
            bench.publish(.commands(number: 4, [.cancel(bench.grant.effect, bench.grant.attempt)])) == [
                .stop(bench.grant.effect, bench.grant.attempt)
            ])
    }

    @Test func `shows a lost message by the next tick`() {
        var bench = PeerBench()
        bench.join()
        #expect(bench.tick(1) == [])
        #expect(bench.wait().contains(.send(.assignmentsRequest(bench.session, bench.epoch))))
    }

    @Test func `does not apply an assignment older than itself, nor one that does not know what has settled`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.publish(.commands(number: 1, [.start(bench.grant)]))
        #expect(bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: []))) == [])
        bench.machine.effectEnded(bench.grant.effect, bench.grant.attempt, failure: nil)
        _ = bench.acknowledge(0, 1)
        #expect(bench.reply(.assignments(Assignments(number: 1, watermark: 0, grants: [bench.grant]))) == [])
    }

    @Test func `drops frames of another session`() {
        #expect(afterForeign { $0.session = SessionID(2) } == [])
        // The rule is what makes the difference.
        #expect(afterForeign(breaking: [.framesNameTheirSession]) { $0.session = SessionID(2) } != [])
    }

    @Test func `drops frames of an older epoch`() {
        #expect(afterForeign { $0.epoch = Epoch(number: 0, nonce: 5) } == [])
        #expect(afterForeign(breaking: [.olderEpochsAreDropped]) { $0.epoch = Epoch(number: 0, nonce: 5) } != [])
    }

    /// What a peer does on an empty assignment in a frame that was changed.
    private func afterForeign(breaking rules: [Rule] = [], _ change: (inout PeerBench) -> Void) -> [PeerAction] {
        var bench = PeerBench()
        bench.machine.brokenRules = BrokenRules(rules)
        bench.join([bench.grant])
        change(&bench)
        return bench.reply(.assignments(Assignments(number: 9, watermark: 0, grants: [])))
    }
}
