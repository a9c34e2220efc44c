import LoopCluster
import LoopCore
import LoopLock
import LoopWire
import Testing

@testable import LoopNode

@Suite struct `Bodies of effects on their pool` {
    @Test(.timeLimit(.minutes(5)))
    func `a body that never waits hears of its cancellation`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        let isStarted = Monitor(false)
        let ended = AsyncStream.makeStream(of: Void.self)
        let runner = Scripted { _ in
            isStarted.withLock { $0 = true }
            isStarted.signal()
            while !Task.isCancelled {}
            ended.continuation.yield()
        }
        let pool = BodyPool(runnersMax: 1)
        let body = runner.body(1, gate, pool)

        // A thread of its own: the body keeps one of the pool's, and there may be no other.
        let canceller = try NodeThread("canceller") {
            isStarted.wait(until: { $0 })
            body.cancel()
        }
        pool.post([body])

        for await _ in ended.stream { break }
        await canceller.join()
    }

    @Test(.timeLimit(.minutes(5)))
    func `a body that was cancelled before its turn begins as a cancelled one`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        let seen = AsyncStream.makeStream(of: Bool.self)
        let runner = Scripted { _ in seen.continuation.yield(Task.isCancelled) }
        let pool = BodyPool(runnersMax: 1)
        let body = runner.body(1, gate, pool)

        body.cancel()
        pool.post([body])

        for await isCancelled in seen.stream {
            #expect(isCancelled)
            break
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `bodies begin in the order of their grants, and one that waits lets the next begin`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        let begun = AsyncStream.makeStream(of: UInt32.self)
        let isLast = Locked(false)
        let runner = Scripted { number in
            begun.continuation.yield(number)
            // All wait for the last.
            if number == 8 { isLast.withLock { $0 = true } }
            while !isLast.withLock({ $0 }) { await Task.yield() }
        }

        let pool = BodyPool(runnersMax: 1)
        pool.post((1...8).map { runner.body($0, gate, pool) })

        var order: [UInt32] = []
        for await number in begun.stream {
            order.append(number)
            if number == 8 { break }
        }
        #expect(order == [1, 2, 3, 4, 5, 6, 7, 8])
    }

    @Test(.timeLimit(.minutes(5)))
    func `bodies of two feedbacks share a task and keep their order`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        let seen = AsyncStream.makeStream(of: (UInt32, Int?).self)
        let runners = (0...1).map { runner in
            Scripted { number in
                let task = withUnsafeCurrentTask { $0?.hashValue }
                // Each is run by its own feedback's runner, whose bodies are the even or the odd ones.
                seen.continuation.yield((Int(number) % 2 == runner ? number : 0, task))
            }
        }
        let pool = BodyPool(runnersMax: 1)

        pool.post([1, 3, 2, 5, 4, 6].map { runners[Int($0) % 2].body($0, gate, pool) })

        var order: [UInt32] = []
        var tasks: Set<Int?> = []
        for await (number, task) in seen.stream {
            order.append(number)
            tasks.insert(task)
            if order.count == 6 { break }
        }
        #expect(order == [1, 3, 2, 5, 4, 6])
        #expect(tasks.count == 1)
    }

    @Test(.timeLimit(.minutes(5)))
    func `the task of a body that was cancelled runs no other`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        let seen = AsyncStream.makeStream(of: Bool.self)
        let shared = Locked<EffectBody?>(nil)
        let runner = Scripted { number in
            // The first is cancelled while it runs, and never waits.
            if number == 1 { shared.withLock { $0 }?.cancel() }
            seen.continuation.yield(Task.isCancelled)
        }
        let pool = BodyPool(runnersMax: 1)
        let bodies = (1...4).map { runner.body($0, gate, pool) }
        shared.withLock { $0 = bodies[0] }
        bodies[2].cancel()

        pool.post(bodies)

        var cancelled: [Bool] = []
        for await isCancelled in seen.stream {
            cancelled.append(isCancelled)
            if cancelled.count == 4 { break }
        }
        #expect(cancelled == [true, false, true, false])
        shared.withLock { $0 = nil }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a body that has waited hears of its cancellation, and bodies behind it do not`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        let seen = AsyncStream.makeStream(of: (UInt32, Bool).self)
        let runner = Scripted { number in
            if number == 1 { while !Task.isCancelled { await Task.yield() } }
            seen.continuation.yield((number, Task.isCancelled))
        }
        let pool = BodyPool(runnersMax: 1)
        let bodies = (1...3).map { runner.body($0, gate, pool) }

        pool.post(bodies)

        var cancelled: [UInt32: Bool] = [:]
        for await (number, isCancelled) in seen.stream {
            cancelled[number] = isCancelled
            if cancelled.count == 2 { bodies[0].cancel() }
            if cancelled.count == 3 { break }
        }
        #expect(cancelled == [1: true, 2: false, 3: false])
    }

    @Test(.timeLimit(.minutes(5)))
    func `G10 a line that is never empty takes no more room than those who stand in it`() async throws {
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        let pool = BodyPool(runnersMax: 1)
        let ended = AsyncStream.makeStream(of: Int.self)
        let made = Locked(2)
        let shared = Locked<Scripted?>(nil)
        let runner = Scripted { _ in
            let number = made.withLock { made in
                made += 1
                return made
            }
            if number < 10_000, let runner = shared.withLock({ $0 }) {
                pool.post([runner.body(1, gate, pool)])
            } else {
                ended.continuation.yield(pool.placesCount)
            }
        }
        shared.withLock { $0 = runner }

        pool.post([runner.body(1, gate, pool), runner.body(1, gate, pool)])

        for await placesCount in ended.stream {
            #expect(placesCount < 8)
            break
        }
        shared.withLock { $0 = nil }
    }
}

/// Runs the same for every body, which gets its number.
private final class Scripted: FeedbackRunner {
    let loop = "scripted"
    private let work: @Sendable (UInt32) async -> Void

    init(_ work: @escaping @Sendable (UInt32) async -> Void) { self.work = work }

    nonisolated(nonsending) func run(_ first: EffectBody, _ next: (EffectBody) -> EffectBody?) async -> EffectBody? {
        var body = first
        while true {
            await work(body.grant.failures)
            guard let following = next(body) else { return nil }
            guard following.isRun(by: self) else { return following }
            body = following
        }
    }

    func request(_ bytes: RequestBytes) -> (any Sendable)? { nil }

    /// - Parameter number: stands where a grant has its failures.
    func body(_ number: UInt32, _ gate: OutboxGate, _ pool: BodyPool) -> EffectBody {
        let grant = Grant(
            effect: EffectID(feedback: 0, seq: Seq(1), index: number), attempt: Attempt(epoch: 1, count: 1),
            version: Seq(1), failures: number, isResumed: false, request: [])
        return EffectBody(grant, Workshop(runner: self, history: History(1), gate: gate, pool: pool))
    }
}
