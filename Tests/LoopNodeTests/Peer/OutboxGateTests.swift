import Glibc
import LoopCore
import LoopLock
import LoopWire
import Testing

@testable import LoopNode

@Suite struct `A gate to the outbox` {
    private let gate: OutboxGate

    init() throws { gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20) }

    @Test func `lets who ends with the only event push it, and wakes nobody`() throws {
        let (gate, pushesCount) = (gate, Locked(0))
        gate.letSenders(push: {
            pushesCount.withLock { $0 += 1 }
            take(outboxCount: 1)
            return true
        })
        #expect(try offer())
        #expect(pushesCount.withLock { $0 } == 1 && !isSignalled)

        // The first is under way: the next ones are for the owning thread, which takes them together.
        #expect(try offer())
        #expect(try offer())
        #expect(pushesCount.withLock { $0 } == 1 && isSignalled)
        take(outboxCount: 3)
        #expect(!isSignalled)

        take(outboxCount: 0)
        #expect(try offer())
        #expect(pushesCount.withLock { $0 } == 2 && !isSignalled)

        gate.letSenders(push: nil)
        take(outboxCount: 0)
        #expect(try offer())
        #expect(pushesCount.withLock { $0 } == 2 && isSignalled)
    }

    @Test func `lets who waits for the outcome of the only event push it`() async throws {
        let gate = gate
        gate.letSenders(push: {
            var posted = PostedEntries()
            gate.take(into: &posted, isSignalled: false)
            for (_, waiter) in posted.waiters { gate.resolve(waiter.ticket, .success(Seq(7))) }
            return true
        })
        #expect(try await gate.send([1], of: nil, confirmed: true) == Seq(7))
        #expect(!isSignalled)
    }

    @Test func `leaves the events of a sender that goes on to the owning thread`() throws {
        gate.letSenders(push: { true })
        #expect(try offer(isLast: false))
        #expect(isSignalled)
    }

    @Test func `wakes the owning thread where a sender could not push`() throws {
        gate.letSenders(push: { false })
        #expect(try offer())
        #expect(isSignalled)
    }

    @Test func `that keeps events on disk leaves every push to the owning thread`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20, keeps: true)
        let isPushed = Locked(false)
        gate.letSenders(push: {
            isPushed.withLock { $0 = true }
            return true
        })
        let owner = try NodeThread("owner") {
            var watched = pollfd(fd: gate.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&watched, 1, -1)
            var posted = PostedEntries()
            gate.take(into: &posted, isSignalled: true)
            for (_, waiter) in posted.waiters { gate.resolve(waiter.ticket, .success(.initial)) }
        }
        #expect(try await gate.send([1], of: nil, confirmed: true) == .initial)
        await owner.join()
        #expect(!isPushed.withLock { $0 })
    }

    private func offer(isLast: Bool = true) throws -> Bool {
        let effect = (id: EffectID(feedback: 0, seq: Seq(1), index: 0), attempt: Attempt(epoch: 1, count: 1))
        return try [UInt8](repeating: 1, count: 8).withUnsafeBytes { try gate.offer($0, of: effect, isLast: isLast) }
    }

    /// As the owning thread does, whose machine then has so many events under way.
    private func take(outboxCount: Int) {
        var posted = PostedEntries()
        gate.take(into: &posted, isSignalled: true)
        gate.report(posted, outboxCount: outboxCount, outboxBytes: 8 * outboxCount)
    }

    private var isSignalled: Bool {
        var watched = pollfd(fd: gate.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 1
    }
}
