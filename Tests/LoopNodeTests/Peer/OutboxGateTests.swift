import Glibc
import LoopCluster
import LoopCollections
import LoopCore
import LoopWire
import Testing

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `A gate to the outbox` {
    private let gate: OutboxGate

    init() throws { gate = try OutboxGate(countMax: 2, bytesMax: 1 << 20) }

    @Test func `wakes the owning thread once for all that is posted before it is taken`() async throws {
        #expect(!isSignalled)
        try await gate.send(event(1))
        #expect(isSignalled)
        try await gate.send(event(2))
        gate.end(EffectID(feedback: 0, seq: Seq(1), index: 0), Attempt(epoch: 1, count: 1), nil)
        #expect(take().run.map(\.kind) == [.event, .event, .completed])
        #expect(!isSignalled)
    }

    @Test func `does not signal while the owning thread is awake, which takes what was posted before it sleeps`()
        async throws
    {
        gate.begin()
        try await gate.send(event(1))
        #expect(!isSignalled)
        #expect(!gate.maySleep())
        try await gate.send(event(2))
        #expect(!isSignalled)
        #expect(take().run.count == 2)

        #expect(gate.maySleep())
        gate.end(EffectID(feedback: 0, seq: Seq(1), index: 0), Attempt(epoch: 1, count: 1), nil)
        #expect(isSignalled)
    }

    @Test func `G10 lets senders in when there is room, in the order in which they came`() async throws {
        for number in 1...2 as ClosedRange<UInt8> { try await gate.send(event(number)) }
        let first = Task { try await gate.send(event(3)) }
        await gate.waitForLine(1)
        let second = Task { try await gate.send(event(4)) }
        await gate.waitForLine(2)
        #expect(take().run.map(\.payload) == [[1], [2]])

        // One of the two is settled.
        gate.report(outboxCount: 1, outboxBytes: 7)
        #expect(try await first.value == .accepted)
        #expect(isSignalled)
        #expect(take().run.map(\.payload) == [[3]])
        #expect(gate.lineCount == 1)

        gate.report(outboxCount: 0, outboxBytes: 0)
        #expect(try await second.value == .accepted)
        #expect(take().run.map(\.payload) == [[4]])
    }

    @Test func `G10 lets no sender overtake those that wait`() async throws {
        for number in 1...2 as ClosedRange<UInt8> { try await gate.send(event(number)) }
        let first = Task { try await gate.send(event(3)) }
        await gate.waitForLine(1)
        #expect(take().run.count == 2)
        gate.report(outboxCount: 0, outboxBytes: 0)
        try await gate.send(event(4))
        _ = try await first.value
        #expect(take().run.map(\.payload) == [[3], [4]])
    }

    @Test func `an end never waits`() async throws {
        for number in 1...2 as ClosedRange<UInt8> { try await gate.send(event(number)) }
        gate.end(EffectID(feedback: 0, seq: Seq(1), index: 0), Attempt(epoch: 1, count: 1), Failure(message: "no"))
        gate.close(SendRefusal(.ended), mayBeApplied: false)
        gate.end(EffectID(feedback: 0, seq: Seq(1), index: 1), Attempt(epoch: 1, count: 2), nil)
        #expect(take().run.map(\.kind) == [.event, .event, .failed, .completed])
    }

    @Test func `a sender that is cancelled while it waits for room leaves the line`() async throws {
        for number in 1...2 as ClosedRange<UInt8> { try await gate.send(event(number)) }
        let sender = Task { try await gate.send(event(3)) }
        await gate.waitForLine(1)
        sender.cancel()
        await #expect(throws: SendRefusal(.cancelled)) { try await sender.value }
        #expect(gate.lineCount == 0)

        // One that was cancelled before does not wait at all.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await gate.send(event(4))
        }
        await #expect(throws: SendRefusal(.cancelled)) { try await late.value }
        #expect(take().run.map(\.payload) == [[1], [2]])
    }

    @Test func `a cancelled effect sends nothing, and a cancelled client does while there is room`() async throws {
        let effect = event(1, of: EffectID(feedback: 0, seq: Seq(1), index: 0))
        let sender = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: SendRefusal(.cancelled)) { try await gate.send(effect) }
            return try await gate.send(event(2))
        }
        #expect(try await sender.value == .accepted)
        #expect(take().run.map(\.payload) == [[2]])
    }

    @Test func `tells a sender the outcome that it waits for`() async throws {
        let sender = Task { try await gate.send(event(1, wantsSeq: true)) }
        await watch()
        let posted = take()
        #expect(posted.waiters.map(\.index) == [0])
        gate.resolve(
            posted.waiters.map {
                ($0.ticket, .success(Settlement(state: StateID(history: History(1), epoch: .none, seq: Seq(7)))))
            })
        #expect(try await sender.value.state.seq == Seq(7))
    }

    @Test func `that keeps events lets a sender go on when its event is on disk`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20, keeps: true)
        let sender = Task { try await gate.send(event(1)) }
        await watch(gate)
        var posted = PostedEntries()
        gate.take(into: &posted, isSignalled: true)
        #expect(posted.waiters.map(\.index) == [0])
        gate.resolve(posted.waiters.map { ($0.ticket, .success(.accepted)) })
        #expect(try await sender.value == .accepted)
    }

    @Test func `that is closed refuses what waits for room, and says of the rest that it may be applied`() async throws
    {
        let known = Task { try await gate.send(event(1, wantsSeq: true)) }
        await watch()
        try await gate.send(event(2))
        let waiting = Task { try await gate.send(event(3)) }
        await gate.waitForLine(1)
        gate.close(SendRefusal(.ended, detail: "over"), mayBeApplied: true)
        await #expect(throws: SendRefusal(.historyChanged, detail: "over")) { try await known.value }
        await #expect(throws: SendRefusal(.ended, detail: "over")) { try await waiting.value }
        await #expect(throws: SendRefusal(.ended, detail: "over")) { try await gate.send(event(4)) }
        await #expect(throws: SendRefusal(.ended, detail: "over")) { try await gate.send(event(4, wantsSeq: true)) }
    }

    private func event(_ byte: UInt8, of effect: EffectID? = nil, wantsSeq: Bool = false) -> Entry {
        Entry(
            kind: .event, effect: effect, attempt: effect == nil ? .none : Attempt(epoch: 1, count: 1),
            payload: [byte], wantsSeq: wantsSeq)
    }

    /// As the owning thread does.
    private func take() -> PostedEntries {
        var posted = PostedEntries()
        gate.take(into: &posted, isSignalled: true)
        return posted
    }

    private var isSignalled: Bool {
        var watched = pollfd(fd: gate.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 1
    }

    /// Waits until the gate wakes the owning thread.
    private func watch(_ other: OutboxGate? = nil) async {
        let descriptor = (other ?? gate).descriptor
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&watched, 1, 0) != 1 { await Task.yield() }
    }
}

extension OutboxGate {
    /// Waits until a number of senders wait in line.
    fileprivate func waitForLine(_ count: Int) async { while lineCount < count { await Task.yield() } }
}
