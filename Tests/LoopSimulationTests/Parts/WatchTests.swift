import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopSimulation

@Suite struct `What is watched from outside of the machines` {
    private let effect = EffectID(feedback: 0, seq: Seq(1), index: 0)
    private let grant = Grant(
        effect: EffectID(feedback: 0, seq: Seq(1), index: 0), attempt: Attempt(epoch: 1, count: 2), version: Seq(1),
        failures: 1, isResumed: false, request: [])

    private var start: Outbound {
        .inbox(
            PeerID(high: 0, low: 1),
            PeerFrame(
                history: History(1), epoch: .none, session: SessionID(1),
                message: .commands(number: 1, CommandRun([.start(grant)]))))
    }

    private func failure(retryAt milliseconds: Int64) -> Record {
        .attemptEnded(
            AttemptEnd(
                effect: effect, upTo: Attempt(epoch: 1, count: 1), cause: .failed,
                next: .retry(RetryTime(notBefore: WallTime(milliseconds: milliseconds), wait: 2000))))
    }

    /// A turn at a second of virtual time, with a wall clock of its own.
    private func turn(_ second: UInt64, wall: Int64) -> TurnMoment {
        TurnMoment(at: second * 1_000_000_000, wall: WallTime(milliseconds: wall))
    }

    @Test func `a try may not come before its delay is over, whatever the wall clock says`() throws {
        var retries = RetryWatch()
        retries.begin(at: WallTime(milliseconds: 0), 0)
        retries.note(failure(retryAt: 7000), of: turn(1, wall: 5000))
        var late = retries
        var count = 0
        let violation = #expect(throws: Violation.self) {
            try retries.check(start, of: turn(2, wall: 900_000)) { count += 1 }
        }
        #expect(violation?.promise == .bounded)
        try late.check(start, of: turn(3, wall: 0)) { count += 1 }
        #expect(count == 2)
        // It is no longer watched.
        try late.check(start, of: turn(1, wall: 0)) { count += 1 }
        #expect(count == 2)
    }

    @Test func `a new process of the reducer has seen no failure`() throws {
        var retries = RetryWatch()
        retries.begin(at: WallTime(milliseconds: 0), 0)
        retries.note(failure(retryAt: 7000), of: turn(1, wall: 5000))
        retries.begin(at: WallTime(milliseconds: 0), 0)
        try retries.check(start, of: turn(1, wall: 5000)) { Issue.record("a delay of an earlier process is watched") }
    }

    @Test func `a try may not come long after its delay, whatever the wall clock says`() {
        var retries = RetryWatch()
        let second: UInt64 = 1_000_000_000
        retries.begin(at: WallTime(milliseconds: 0), 10 * second)
        // As a clock that was a day ahead has left it.
        let retry = RetryTime(notBefore: WallTime(milliseconds: 86_400_000), wait: 3000)
        #expect(retries.mayWait(effect, retry, at: 13 * second))
        #expect(!retries.mayWait(effect, retry, at: 100 * second))
    }

    @Test func `a lease is longer by the reducer's standstills`() {
        var watch = LeaseWatch()
        var lease = LeaseAccount(heardAt: 0)
        watch.begin(.none, at: 0)
        #expect(!lease.mustBeChecked(at: 1_000_000_000, silenceLimit: 100, watch))
        lease.reach(at: 1000)
        lease.reach(at: 900)
        watch.advance(to: 1000, silenceLimit: 2000)
        #expect(lease.mustBeChecked(at: 1_000_000_000, silenceLimit: 2000, watch))
        watch.advance(to: 1_000_000_000, silenceLimit: 2000)
        #expect(watch.stoodStill(since: 1000) == 1_000_000_000 - 1000)
        #expect(!lease.mustBeChecked(at: 1_000_000_500, silenceLimit: 2000, watch))
        #expect(lease.mustBeChecked(at: 1_000_003_000, silenceLimit: 2000, watch))
        lease.note(isTaken: true, at: 1_000_003_000)
        #expect(!lease.mustBeChecked(at: 2_000_000_000, silenceLimit: 2000, watch))
    }
}
