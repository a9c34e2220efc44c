import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The phase of a reducer` {
    private let effects = (0..<2 as Range<UInt32>).map { EffectID(feedback: 0, seq: Seq(1), index: $0) }
    private let sessions = [SessionID(1), SessionID(2)]
    private let end = Outcome(text: "done", exitCode: 0)
    private let loss = HistoryLost(missing: .session(SessionID(9), next: SessionID(3)), peer: alice, name: "alice")

    private var grace: Grace {
        Grace(unclaimed: Set(effects), awaited: Set(sessions), ends: MonotonicTime(nanoseconds: 5))
    }

    @Test func `serves once the last effect is claimed, or no longer wanted`() {
        var phase = Phase.grace(grace)
        phase.inGrace { $0.settle(effects[0]) }
        #expect(!phase.isUnclaimed(effects[0]) && phase.isUnclaimed(effects[1]))
        phase.inGrace { $0.settle(effects[1]) }
        #expect(phase == .serving)
    }

    @Test func `waits for claims until its time is over or every session has claimed`() {
        var grace = grace
        #expect(!grace.isOver(at: MonotonicTime(nanoseconds: 4)))
        #expect(grace.isOver(at: MonotonicTime(nanoseconds: 5)))
        grace.extend(by: .nanoseconds(1))
        #expect(!grace.isOver(at: MonotonicTime(nanoseconds: 5)))
        for session in sessions { grace.stopAwaiting(session) }
        #expect(grace.isOver(at: .zero))
    }

    @Test func `waits longer by a standstill, also while records are missing`() {
        for lost in [false, true] {
            var phase = Phase.grace(grace)
            if lost { phase.lose(loss) }
            phase.inGrace { $0.extend(by: .nanoseconds(3)) }
            #expect(phase.grace?.ends == MonotonicTime(nanoseconds: 8))
        }
    }

    @Test func `has nothing to wait for once the loop has ended`() {
        var phase = Phase.grace(grace)
        phase.end(with: end)
        #expect(phase == .ended(end))
        #expect(phase.grace == nil && phase.hasEnded && !phase.grants)
    }

    @Test func `goes on after a loss where a new history begins, and an end remains an end`() {
        for (before, after) in [(Phase.grace(grace), Phase.serving), (.serving, .serving), (.ended(end), .ended(end))] {
            var phase = before
            phase.lose(loss)
            #expect(phase == .lost(loss, interrupted: before))
            #expect(!phase.grants && phase.grace == before.grace && phase.outcome == before.outcome)
            phase.beginHistory()
            #expect(phase == after)
        }
    }

    @Test func `is lost by the first loss, and can still end and stop waiting`() {
        var phase = Phase.grace(grace)
        phase.lose(loss)
        phase.lose(HistoryLost(missing: .session(SessionID(8), next: SessionID(3)), peer: bob, name: "bob"))
        phase.inGrace { $0.settleAll() }
        #expect(phase == .lost(loss, interrupted: .serving))
        phase.end(with: end)
        #expect(phase == .lost(loss, interrupted: .ended(end)))
    }
}

@Suite struct `The clock of a reducer` {
    @Test func `never goes back`() {
        var clock = ReducerClock(at: ReducerBench.moment(10_000))
        clock.pass(to: ReducerBench.moment(9_000))
        #expect(clock.now == ReducerBench.moment(10_000))
        #expect(clock.wall(after: WallTime(milliseconds: 12_000)) == WallTime(milliseconds: 12_000))
    }

    @Test func `forgives a standstill, and no shorter turn`() {
        var clock = ReducerClock(at: ReducerBench.moment(10_000))
        clock.pass(to: ReducerBench.moment(11_500))
        #expect(clock.advance(silenceLimit: .seconds(3)) == nil)
        #expect(clock.listensSince == ReducerBench.moment(10_000).monotonic)
        clock.pass(to: ReducerBench.moment(71_500))
        #expect(clock.stoodStill(silenceLimit: .seconds(3)))
        #expect(clock.advance(silenceLimit: .seconds(3)) == .seconds(60))
        #expect(clock.listensSince == ReducerBench.moment(70_000).monotonic)
        #expect(clock.advance(silenceLimit: .seconds(3)) == nil)
    }
}
