import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `Admission alone` {
    @Test func `opens a session once for a join request that is repeated`() throws {
        var bench = try PartBench()
        let joinRequest = ReducerBench.joinRequest(alice)
        #expect(
            bench.admission.chooseSession(for: joinRequest, from: [], bench.journaled, isGrace: false, bench.context)
                == .new)
        let session = try bench.requestJoin(alice)
        #expect(
            bench.admission.chooseSession(for: joinRequest, from: [], bench.journaled, isGrace: false, bench.context)
                == .existing(session))
    }

    @Test func `gives up the longest idle session where all are taken, and none of a peer that is there`() throws {
        var configuration = ReducerConfiguration()
        configuration.sessionsMax = 2
        var bench = try PartBench(configuration: configuration)
        let first = try bench.join(alice)
        bench.pass(1000)
        #expect(bench.context.clock.advance(silenceLimit: configuration.silenceLimit) == nil)
        _ = try bench.join(bob)
        let joinRequest = ReducerBench.joinRequest(client)
        func choose() -> Admission.SessionChoice {
            bench.admission.chooseSession(for: joinRequest, from: [], bench.journaled, isGrace: false, bench.context)
        }
        #expect(choose() == .full(nil))
        for _ in 0..<4 {
            bench.pass(1000)
            #expect(bench.context.clock.advance(silenceLimit: configuration.silenceLimit) == nil)
        }
        #expect(choose() == .inPlace(of: first))
    }

    @Test func `retires sessions without a peer, but not in grace, when they may have effects`() throws {
        var configuration = ReducerConfiguration()
        configuration.sessionRetention = .seconds(60)
        var bench = try PartBench(configuration: configuration)
        let session = try bench.requestJoin(alice)
        for _ in 0..<61 {
            bench.pass(1001)
            _ = bench.context.clock.advance(silenceLimit: configuration.silenceLimit)
        }
        var inGrace = bench.admission
        #expect(inGrace.sessionsToRetire(bench.journaled, isGrace: true, bench.context) == [])
        #expect(bench.admission.sessionsToRetire(bench.journaled, isGrace: false, bench.context) == [session])
        // It looks again after a while.
        #expect(bench.admission.sessionsToRetire(bench.journaled, isGrace: false, bench.context) == [])
    }

    @Test func `takes the parts of a claim in order, and the whole claim again under a greater number`() throws {
        var bench = try PartBench()
        let session = try bench.requestJoin(alice)
        func take(_ number: UInt64, _ part: UInt32) -> Admission.ClaimVerdict {
            bench.admission.take(
                ClaimPart([], number: number, part: part, parts: 2), of: session, bench.context)
        }
        #expect(take(1, 1) == .outOfOrder)
        #expect(take(1, 0) == .counts)
        #expect(take(2, 0) == .counts)
        #expect(take(1, 1) == .outOfOrder)
        #expect(bench.admission.members[session]?.hasJoined == false)
        #expect(take(2, 1) == .counts)
        #expect(bench.admission.members[session]?.hasJoined == true)
        #expect(take(2, 1) == .repeats)
    }

    @Test func `lets a lease run from the tick that a heartbeat echoes, and from no later time`() throws {
        var bench = try PartBench()
        let session = try bench.join(alice)
        func hear(_ echo: UInt64) -> MonotonicTime? {
            bench.admission.hear(
                Heartbeat(
                    session: session, epoch: bench.journaled.epoch, echo: echo, applied: 0, settled: 0, capacity: 4),
                bench.context)
            return bench.admission.members[session]?.leaseEnds
        }
        bench.pass(1000)
        #expect(hear(10_500_000_000) == .zero + .milliseconds(13_500))
        #expect(hear(.max) == .zero + .milliseconds(14_000))
    }

    @Test func `asks for what is missing once in a while`() throws {
        var bench = try PartBench()
        let session = try bench.join(alice)
        #expect(bench.admission.mayAskToResend(session, at: bench.now) == true)
        #expect(bench.admission.mayAskToResend(session, at: bench.now + .milliseconds(19)) == false)
        #expect(bench.admission.mayAskToResend(session, at: bench.now + .milliseconds(20)) == true)
    }
}

@Suite struct `An inbox` {
    private let effect = EffectID(feedback: 0, seq: Seq(1), index: 0)
    private let attempt = Attempt(epoch: 1, count: 1)

    private var grant: Grant {
        Grant(
            effect: effect, attempt: attempt, version: Seq(1), failures: 0, isResumed: false, request: [1]
        )
    }

    @Test func `numbers its messages, and lets no more through than its window`() {
        var inbox = Inbox()
        inbox.take(.start(grant), atMost: 8)
        #expect(inbox.takeCommands(bytesMax: 1 << 20) == [.commands(number: 1, CommandRun([.start(grant)]))])
        #expect(inbox.takeCommands(bytesMax: 1 << 20) == [])
        #expect(!inbox.isOpen(window: 1))
        inbox.hasApplied(7)
        #expect(inbox.isOpen(window: 1) && inbox.applied == 1)
    }

    @Test func `sends neither a start that is cancelled before it leaves, nor its cancellation`() {
        var inbox = Inbox()
        inbox.take(.start(grant), atMost: 8)
        inbox.take(.cancel(effect, attempt), atMost: 8)
        #expect(!inbox.isWaiting)
    }

    @Test func `takes back the cancellation of an attempt that has ended by itself`() {
        var inbox = Inbox()
        inbox.take(.cancel(effect, attempt), atMost: 8)
        inbox.dropCancel(effect, attempt)
        #expect(!inbox.isWaiting)
    }

    @Test func `becomes an assignment when too much waits, which takes a number`() {
        var inbox = Inbox()
        for _ in 0..<3 { inbox.take(.cancel(effect, attempt), atMost: 2) }
        #expect(inbox.needsAssignments && inbox.pendingCount == 0)
        let parts = inbox.assignments(of: [], watermark: 5, bytesMax: 1 << 20, takesNumber: true)
        #expect(parts == [.assignments(Assignments(number: 1, watermark: 5, grants: []))])
        #expect(!inbox.isWaiting)
    }
}
