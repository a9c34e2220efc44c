import LoopCollections
import LoopCore
import LoopWire
import Testing

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `The body of an effect` {
    private let gate: OutboxGate

    init() throws { gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20) }

    @Test func `hears of its cancellation although it never waits`() async throws {
        let (isStarted, ended) = (Monitor(false), AsyncStream.makeStream(of: Void.self))
        let body = Scripted { _, _ in
            isStarted.withLock { $0 = true }
            isStarted.signal()
            while !Task.isCancelled {}
            ended.continuation.yield()
        }.start(1, gate)
        // A thread of its own: the body keeps one of the pool's, and there may be no other.
        let canceller = try NodeThread("canceller") {
            isStarted.wait(until: { $0 })
            body.cancel()
        }
        for await _ in ended.stream { break }
        await canceller.join()
    }

    @Test func `begins as a cancelled one if it is cancelled before its turn`() {
        let executor = ConnectionExecutor(wakeup: gate.wakeup)
        let seen = Locked<[Bool]>([])
        let script = Scripted { _, _ in seen.withLock { $0.append(Task.isCancelled) } }
        let bodies = [1, 2].map { script.body($0, gate) }
        bodies[0].cancel()
        BodyRunner.start(bodies, on: executor)
        #expect(seen.withLock { $0 } == [true, false])
        executor.end()
    }

    @Test func `begins as a cancelled one if it is cancelled before it has a task`() {
        let executor = ConnectionExecutor(wakeup: gate.wakeup)
        let seen = Locked<[Bool]>([])
        let body = Scripted { _, _ in seen.withLock { $0.append(Task.isCancelled) } }.body(1, gate)
        body.cancel()
        BodyRunner.start([body], on: executor)
        executor.runJobs()
        #expect(seen.withLock { $0 } == [true])
        executor.end()
    }

    @Test func `begins after those that were granted before it, and while they wait`() {
        let executor = ConnectionExecutor(wakeup: gate.wakeup)
        let begun = Locked<[UInt32]>([])
        let script = Scripted { number, _ in
            begun.withLock { $0.append(number) }
            // All wait for the last.
            while begun.withLock({ $0.last }) != 8 { await Task.yield() }
        }
        let bodies = (1...8).map { script.body($0, gate) }
        BodyRunner.start(bodies, on: executor)
        executor.runJobs()
        #expect(begun.withLock { $0 } == [1, 2, 3, 4, 5, 6, 7, 8])
        for body in bodies { body.cancel() }
        executor.end()
    }

    @Test func `is cancelled while it waits, and no other is`() async {
        let seen = AsyncStream.makeStream(of: (UInt32, Bool).self)
        let script = Scripted { number, _ in
            if number == 1 { while !Task.isCancelled { await Task.yield() } }
            seen.continuation.yield((number, Task.isCancelled))
        }
        let bodies = (1...3).map { script.start($0, gate) }
        var cancelled: [UInt32: Bool] = [:]
        for await (number, isCancelled) in seen.stream {
            cancelled[number] = isCancelled
            if cancelled.count == 2 { bodies[0].cancel() }
            if cancelled.count == 3 { break }
        }
        #expect(cancelled == [1: true, 2: false, 3: false])
    }

    @Test func `shares a task with others that never wait, and with none that is cancelled`() {
        let executor = ConnectionExecutor(wakeup: gate.wakeup)
        let seen = Locked<[(task: Int?, isCancelled: Bool)]>([])
        let script = Scripted { number, body in
            // It is cancelled while it runs, and never waits.
            if number == 2 { body.cancel() }
            seen.withLock { $0.append((withUnsafeCurrentTask { $0?.hashValue }, Task.isCancelled)) }
        }
        let bodies = (1...4).map { script.body($0, gate) }
        BodyRunner.start(bodies, on: executor)
        executor.runJobs()
        let tasks = seen.withLock { $0 }
        #expect(tasks.map(\.isCancelled) == [false, true, false, false])
        #expect(tasks[0].task == tasks[1].task)
        #expect(tasks[2].task == tasks[3].task)
        executor.end()
    }

    @Test func `does not hear of a late cancellation of one that ran before in its task`() {
        let executor = ConnectionExecutor(wakeup: gate.wakeup)
        let first = Locked<EffectBody?>(nil)
        let seen = Locked<[Bool]>([])
        let script = Scripted { _, _ in
            first.withLock { $0 }?.cancel()
            seen.withLock { $0.append(Task.isCancelled) }
        }
        let bodies = [Scripted { _, _ in }.body(1, gate), script.body(2, gate)]
        first.withLock { $0 = bodies[0] }
        BodyRunner.start(bodies, on: executor)
        executor.runJobs()
        #expect(seen.withLock { $0 } == [false])
        executor.end()
    }

    @Test func `gets the newest of its newer requests, and hears that there are no more when it is cancelled`() async {
        let seen = AsyncStream.makeStream(of: UInt8?.self)
        let executor = ConnectionExecutor(wakeup: gate.wakeup)
        let body = Scripted { _, body in
            for await request in body.newerRequests { seen.continuation.yield(request as? UInt8) }
            seen.continuation.finish()
        }.body(1, gate)
        // Before it has begun: the second replaces the first.
        for request in [2, 3] as [UInt8] { body.update([request]) }
        BodyRunner.start([body], on: executor)
        executor.end()
        var requests: [UInt8?] = []
        for await request in seen.stream {
            requests.append(request)
            if request == 3 { body.update([4]) }
            if request == 4 { body.cancel() }
        }
        #expect(requests == [3, 4])
    }

    @Test func `hears that there are no newer requests if it asks for them after its end`() async {
        let ended = AsyncStream.makeStream(of: Void.self)
        let executor = ConnectionExecutor(wakeup: gate.wakeup)
        let body = Scripted { _, _ in ended.continuation.finish() }.start(1, gate, on: executor)
        executor.runJobs()
        for await _ in ended.stream {}
        body.update([2])
        for await request in body.newerRequests { Issue.record("\(request) came after the end") }
        executor.end()
    }
}

/// Runs the same for every body, which gets its number and itself.
private final class Scripted: FeedbackEffects {
    let loop = "scripted"
    private let work: @Sendable (UInt32, EffectBody) async -> Void

    init(_ work: @escaping @Sendable (UInt32, EffectBody) async -> Void) { self.work = work }

    nonisolated(nonsending) func run(_ body: EffectBody) async { await work(body.grant.effect.index, body) }

    func request(_ bytes: [UInt8]) -> (any Sendable)? { bytes.first }

    func start(_ number: UInt32, _ gate: OutboxGate, on executor: (any TaskExecutor)? = nil) -> EffectBody {
        let body = body(number, gate)
        BodyRunner.start([body], on: executor)
        return body
    }

    func body(_ number: UInt32, _ gate: OutboxGate) -> EffectBody {
        let grant = Grant(
            effect: EffectID(feedback: 0, seq: Seq(1), index: number), attempt: Attempt(epoch: 1, count: 1),
            version: Seq(1), failures: 0, isResumed: false, request: [])
        return EffectBody(grant, self, in: History(1), to: gate, at: .zero)
    }
}
