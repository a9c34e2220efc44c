import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A peer's outbox` {
    @Test func `tells refusals, and the seqs that were asked for`() {
        var bench = PeerBench()
        bench.join()
        for wantsSeq in [false, true, false] { _ = bench.send(wantsSeq: wantsSeq) }
        bench.push()
        let applied = NotableOutcome(number: 2, outcome: .applied(Seq(8)))
        #expect(
            bench.acknowledge(0, 3, applied, refused(3, .stale)) == [
                .settled(number: 2, .applied(Seq(8))), .settled(number: 3, .refused(.stale)),
            ])
    }

    @Test func `asks for outcomes where an acknowledgement was lost`() {
        var bench = PeerBench()
        bench.join()
        for _ in 0..<3 { _ = bench.send(wantsSeq: true) }
        bench.push()
        #expect(bench.acknowledge(2, 3) == [])
        #expect(bench.wait().contains(.send(.outcomesRequest(bench.session, after: 0))))
        let outcomes = Acknowledgement(base: 0, watermark: 1, notable: [refused(1, .ended)])
        #expect(bench.reply(.outcomes(outcomes)) == [.settled(number: 1, .refused(.ended))])
    }

    @Test func `is full before the room for the ends of effects is taken, and says when it has room again`() {
        var bench = PeerBench(outboxEntriesMax: 4, reserved: 2)
        bench.join([bench.grant])
        #expect(bench.send() == .accepted(number: 1))
        #expect(bench.send() == .accepted(number: 2))
        #expect(bench.send() == .full)
        bench.machine.effectEnded(bench.grant.effect, bench.grant.attempt, failure: nil)
        #expect(bench.machine.nextBatch()?.entries.map(\.kind) == [.event, .event, .completed])
        #expect(bench.acknowledge(0, 1) == [])
        #expect(bench.acknowledge(1, 2) == [.hasSpace])
    }

    @Test func `refuses an event that is too large, before it has a number`() {
        var bench = PeerBench()
        bench.join()
        #expect(
            bench.send(Array(repeating: 0, count: 33))
                == .refused(SendRefusal(.tooLarge, detail: "33 bytes encoded, the limit is 32")))
        #expect(bench.send() == .accepted(number: 1))
    }

    /// The body does not wait for the outcome, or has ended with the event.
    @Test(arguments: [false, true])
    func `has a failure in the place of an effect's event that is too large`(isLast: Bool) {
        var bench = PeerBench()
        bench.join([bench.grant])
        let of = (bench.grant.effect, bench.grant.attempt)
        #expect(bench.machine.send([1], of: of, wantsSeq: false) == .accepted(number: 1))
        let large = Array(repeating: UInt8(0), count: 33)
        #expect(bench.machine.send(large[...], of: of, wantsSeq: false, isLast: isLast) == .accepted(number: 2))
        #expect(bench.machine.takeActions() == [.stop(of.0, of.1)])
        #expect(bench.machine.send([1], of: of, wantsSeq: false) == .refused(SendRefusal(.stale)))
        bench.machine.effectEnded(of.0, of.1, failure: nil)
        let failure = Failure(
            message: "its event was refused: the event is too large (33 bytes encoded, the limit is 32)")
        #expect(bench.machine.nextBatch()?.entries.last == Entry(endOf: of.0, of.1, failure))
        #expect(bench.machine.lastNumber == 2)
    }

    @Test func `tells the body of an effect that waits for the outcome that its event is too large`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        let of = (bench.grant.effect, bench.grant.attempt)
        let large = Array(repeating: UInt8(0), count: 33)
        let refusal = SendRefusal(.tooLarge, detail: "33 bytes encoded, the limit is 32")
        #expect(bench.machine.send(large[...], of: of, wantsSeq: true) == .refused(refusal))
        #expect(bench.machine.send([1], of: of, wantsSeq: true, isLast: true) == .accepted(number: 1))
    }

    @Test func `goes back to what was not received`() {
        var bench = PeerBench()
        bench.join()
        for _ in 0..<3 { _ = bench.send() }
        #expect(bench.machine.nextBatch()?.first == 1)
        #expect(bench.machine.nextBatch() == nil)
        _ = bench.tick(0, received: 1, resend: true)
        #expect(bench.machine.nextBatch()?.first == 2)
    }

    @Test func `builds a new socket when nothing settles while ticks come, and hands back after three`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send()
        var rebuilds = 0
        var goodbyes = 0
        for _ in 0..<60 {
            _ = bench.tick(0)
            while bench.machine.nextBatch() != nil {}
            for action in bench.wait(500) {
                if action == .rebuildPush { rebuilds += 1 }
                if action == .send(bench.goodbye) { goodbyes += 1 }
            }
            if goodbyes > 0 { break }
        }
        #expect(rebuilds == 3)
        #expect(goodbyes == 1)
        // The session goes on until the reducer has ended it: its numbers are not given twice.
        #expect(bench.machine.session == bench.session)
        #expect(bench.send() == .accepted(number: 2))
    }
}
