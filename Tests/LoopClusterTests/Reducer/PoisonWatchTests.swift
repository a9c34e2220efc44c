import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The poison watch alone` {
    private let session = SessionID(1)
    private let entry = Entry(kind: .event, effect: nil, attempt: .none, payload: [1, 2, 3], wantsSeq: false)

    private func suspect(crashes: UInt32) -> Suspect {
        Suspect(
            session: session, number: 5, effect: nil, hash: StableHash.quick(entry.payload), phase: .reducing,
            crashes: crashes)
    }

    private func examine(
        _ watch: inout PoisonWatch, number: UInt64 = 5, isApplied: Bool = true, isFirst: Bool = true
    ) -> PoisonWatch.Verdict {
        watch.examine(
            entry, EntryNumber(session: session, number: number), isApplied: isApplied, isFirst: isFirst, [:],
            BrokenRules())
    }

    @Test func `lets a suspect be consumed alone, and strikes it once its turn is durable`() {
        let suspect = suspect(crashes: 1)
        var watch = PoisonWatch(suspects: [suspect])
        #expect(examine(&watch, isFirst: false) == .wait)
        // Its number does not tell it from others.
        #expect(examine(&watch, number: 4, isFirst: false) == .wait)
        #expect(!watch.mustWait)
        #expect(examine(&watch) == .consumeAlone)
        #expect(watch.mustWait)
        let survivors = watch.endTurn()
        #expect(survivors == [suspect] && !watch.mustWait && watch.suspects == [suspect])
        watch.strike(survivors, from: nil)
        #expect(!watch.isWatching)
    }

    @Test func `sets aside what has ended the process twice`() {
        let suspect = suspect(crashes: 2)
        var watch = PoisonWatch(suspects: [suspect])
        #expect(examine(&watch) == .setAside(suspect))
        #expect(watch.endTurn() == [suspect])
    }

    @Test func `takes a suspect that is refused for another reason as one that survives`() {
        var watch = PoisonWatch(suspects: [suspect(crashes: 1)])
        #expect(examine(&watch, isApplied: false, isFirst: false) == .consume)
        #expect(watch.endTurn() == [suspect(crashes: 1)])
    }

    @Test func `refuses the bytes of an effect that are in quarantine`() {
        let effect = EffectID(feedback: 0, seq: Seq(1), index: 0)
        let record = QuarantineRecord(
            id: 1, time: WallTime(milliseconds: 0), session: session, number: 5, effect: effect, attempt: .none,
            phase: .reducing, crashes: 2, bytes: entry.payload)
        var watch = PoisonWatch()
        watch.watch([1: record])
        var again = entry
        again.effect = effect
        func verdict() -> PoisonWatch.Verdict {
            watch.examine(
                again, EntryNumber(session: SessionID(2), number: 9), isApplied: true, isFirst: true, [1: record],
                BrokenRules())
        }
        #expect(verdict() == .refuse)
        again.payload = [4]
        #expect(verdict() == .consume)
    }

    @Test func `puts off the rest of a batch in order, as much as there is room for`() throws {
        var bench = try PartBench()
        bench.context = TurnContext(
            configuration: {
                var c = ReducerConfiguration()
                c.deferredBatchesMax = 1
                return c
            }(),
            brokenRules: BrokenRules(), clock: bench.context.clock)
        let batch = Batch(
            loop: bench.journaled.loop.id, history: ReducerBench.history, session: session, settled: 0, applied: 0,
            first: 5, entries: EntryRun([entry, entry, entry]))
        var watch = PoisonWatch()
        #expect(watch.putOff(batch, from: 1, bench.context) == true)
        #expect(watch.hasDeferred && watch.received(of: session, after: 5) == 7)
        #expect(watch.putOff(batch, from: 0, bench.context) == false)
        #expect(watch.takeDeferred().map(\.first) == [6])
        #expect(!watch.hasDeferred)
    }

    @Test func `tries a quarantined event in a turn of its own`() {
        var watch = PoisonWatch()
        let retry = QuarantineRetry(id: 1, who: "ann", number: 2, route: .local)
        #expect(watch.takeRetry(isFirst: true) == .none)
        #expect(watch.request(retry) == true)
        #expect(watch.takeRetry(isFirst: false) == .waits)
        #expect(watch.takeRetry(isFirst: true) == .now(retry))
        #expect(watch.mustWait && !watch.hasDeferred)
        for _ in 0..<PoisonWatch.retriesMax { #expect(watch.request(retry) == true) }
        #expect(watch.request(retry) == false)
    }
}
