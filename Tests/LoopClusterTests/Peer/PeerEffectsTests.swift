import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A peer's effects` {
    @Test func `end with a refusal for their attempt, but not with one for an event's bytes`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        let holder = (bench.grant.effect, bench.grant.attempt)
        for _ in 0..<2 { _ = bench.machine.send([1], of: holder, wantsSeq: false) }
        bench.push()
        #expect(bench.acknowledge(0, 1, refused(1, .undecodable)) == [.settled(number: 1, .refused(.undecodable))])
        #expect(
            bench.acknowledge(1, 2, refused(2, .attempt)) == [
                .stop(bench.grant.effect, bench.grant.attempt), .settled(number: 2, .refused(.attempt)),
            ])
    }

    @Test func `are updated by newer requests only`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        let (effect, attempt) = (bench.grant.effect, bench.grant.attempt)
        #expect(bench.publish(.commands(number: 1, [.update(effect, attempt, version: Seq(1), request: [2])])) == [])
        #expect(
            bench.publish(.commands(number: 2, [.update(effect, attempt, version: Seq(2), request: [2])])) == [
                .update(effect, attempt, request: [2])
            ])
    }

    @Test func `are handed back when the process is to stop, and it goes when that is known`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        bench.machine.stop(at: bench.now)
        #expect(bench.machine.takeActions() == [.stop(bench.grant.effect, bench.grant.attempt)])
        #expect(bench.machine.nextBatch()?.entries.map(\.kind) == [.released])
        #expect(bench.acknowledge(0, 1) == [.send(bench.goodbye)])
        #expect(bench.reply(.goodbyeHeard) == [.finished])
        #expect(bench.machine.isOver)
    }

    /// It began to claim in the new history, although its process had been told to go.
    @Test func `are lost with their history where the process is to stop, and it goes`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        bench.machine.stop(at: bench.now)
        _ = bench.machine.takeActions()
        bench.history = History(0x88)
        bench.session = SessionID(1)
        #expect(
            bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500))) == [
                .settled(number: 1, .refused(.historyChanged)), .finished,
            ])
        #expect(bench.machine.isOver)
        #expect(bench.wait() == [])
    }

    @Test func `come too late for a process that is to stop, and go back unless they are cancelled by then`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send()
        bench.machine.stop(at: bench.now)
        #expect(bench.publish(.commands(number: 1, [.start(bench.grant)])) == [])
        let second = Grant(
            effect: EffectID(feedback: 0, seq: Seq(2), index: 0), attempt: Attempt(epoch: 1, count: 2),
            version: Seq(2), failures: 0, isResumed: false, request: [1])
        #expect(bench.publish(.commands(number: 2, [.start(second)])) == [])
        _ = bench.publish(.commands(number: 3, [.cancel(second.effect, second.attempt)]))
        #expect(bench.machine.outbox.count == 1)
        _ = bench.wait()
        #expect(bench.machine.nextBatch()?.entries.map(\.kind) == [.event, .released])
        #expect(bench.acknowledge(0, 2).last == .send(bench.goodbye))
    }

    @Test func `that it finished are not run again`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        bench.machine.effectEnded(bench.grant.effect, bench.grant.attempt, failure: nil)
        #expect(bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [bench.grant]))) == [])
    }
}

@Suite struct `What a peer's effects leave` {
    @Test(arguments: 0..<40)
    func `becomes the same entries whether it is taken together or one by one`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let grants = (0..<24).map { index in
            Grant(
                effect: EffectID(feedback: 0, seq: Seq(1), index: index), attempt: Attempt(epoch: 1, count: 1),
                version: Seq(1), failures: 0, isResumed: false, request: [1])
        }
        var together = PeerBench(outboxEntriesMax: 200, reserved: 40, capacity: 24)
        together.join(grants)
        var single = together
        for _ in 0..<6 {
            let run = EntryRun((0..<Int.random(in: 0...60, using: &random)).map { _ in entry(grants, &random) })
            let first = together.machine.lastNumber + 1
            let acceptance = together.machine.accept(run)
            #expect(acceptance.first == first)
            var ended: [EffectID] = []
            for (index, entry) in run.enumerated() {
                let one = single.machine.accept([entry])
                ended += one.ended.map(\.effect)
                // Each has the number, or the refusal, that it has by itself.
                #expect(acceptance[index] == one[0])
            }
            #expect(acceptance.ended.map(\.effect) == ended)
            #expect(together.machine.running == single.machine.running)
            #expect(together.machine.outbox.unsettled.map(\.entry) == single.machine.outbox.unsettled.map(\.entry))
        }
    }

    private func entry(_ grants: [Grant], _ random: inout SeededRandom) -> Entry {
        let effect = grants[Int.random(in: 0..<grants.count, using: &random)].effect
        // Now and then of an attempt that does not run here.
        let attempt = Attempt(epoch: 1, count: Int.random(in: 0..<12, using: &random) == 0 ? 2 : 1)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Entry(kind: .event, payload: [1, 2])
        case 1: return Entry(kind: .completed, effect: effect, attempt: attempt)
        case 2:
            return Entry(kind: .failed, effect: effect, attempt: attempt, payload: Failure(message: "no").bytes[...])
        case 3: return Entry(kind: .event, effect: effect, attempt: attempt, payload: [3], wantsSeq: true)
        default: return Entry(kind: .event, effect: effect, attempt: attempt, payload: [4, 5, 6])
        }
    }
}
