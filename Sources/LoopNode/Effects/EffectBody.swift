import LoopCluster
import LoopCore
import LoopWire

/// One effect that this node was granted, from the grant to the end of its body: it waits for its turn, runs, can be given
/// newer requests, and can be cancelled at any time.
///
///     waiting ── begins ──▶ running ── ends ──▶ over
///        └─── cancel ─────────┴── cancel: its task hears of it
final class EffectBody: @unchecked Sendable, EffectSource {
    let grant: Grant
    private let workshop: Workshop

    // Guarded by the lock of the pool's line.
    /// The task that runs the body, while it does. Others may run in it before and after.
    @exclusivity(unchecked) private var task: RunningTask?
    @exclusivity(unchecked) private var isCancelled = false
    /// Somebody uses `task`, which must not go on to another body meanwhile.
    @exclusivity(unchecked) private var isCancelling = false
    @exclusivity(unchecked) private var isOver = false
    /// Made for the first newer request, or the first who asks for them.
    @exclusivity(unchecked) private var requests: NewerRequests?

    init(_ grant: Grant, _ workshop: Workshop) {
        self.grant = grant
        self.workshop = workshop
    }

    // MARK: The owning thread

    /// The request has changed.
    func update(_ bytes: RequestBytes) {
        guard let request = workshop.runner.request(bytes) else { return }
        let source = workshop.pool.line.withLock { _ in isOver ? nil : changeRequests { $0.replace(with: request) } }
        source?.yield(request)
    }

    func cancel() {
        let (task, ended) = workshop.pool.line.withLock { _ -> (RunningTask?, NewerRequests?) in
            isCancelled = true
            isCancelling = self.task != nil
            return (self.task, finishRequests())
        }
        if let task {
            task.cancel()
            workshop.pool.line.withLock { _ in isCancelling = false }
        }
        ended?.source?.finish()
    }

    // MARK: The pool, under its lock

    /// Its turn has come: this task runs it next.
    /// - Returns: whether it was cancelled before.
    func begins(as task: RunningTask) -> Bool {
        self.task = task
        return isCancelled
    }

    /// Its body has returned.
    /// - Returns: nil while its task is being cancelled: to be asked again.
    func ends() -> BodyEnd? {
        if isCancelling { return nil }
        task = nil
        return BodyEnd(isCancelled: isCancelled, requests: finishRequests())
    }

    private func finishRequests() -> NewerRequests? {
        isOver = true
        guard let requests else { return nil }
        requests.source = requests.line.finish()
        return requests
    }

    private func changeRequests<Result>(_ change: (inout RequestLine) -> Result) -> Result {
        let known = requests ?? NewerRequests()
        requests = known
        if isOver { _ = known.line.finish() }
        return change(&known.line)
    }

    // MARK: The body

    /// Runs it, and those that follow as long as they are of its feedback.
    /// - Parameter next: what follows a body that has ended.
    /// - Returns: one that follows and is of another feedback; nil: nothing follows.
    nonisolated(nonsending) func run(_ next: (EffectBody) -> EffectBody?) async -> EffectBody? {
        await workshop.runner.run(self, next)
    }

    func isRun(by runner: some FeedbackRunner) -> Bool { workshop.runner === runner }

    var newerRequests: AsyncStream<any Sendable> { workshop.pool.line.withLock { _ in changeRequests { $0.stream() } } }

    var idempotencyKey: String { "\(workshop.runner.loop)/\(workshop.history)/\(grant.effect)" }

    func send(_ payload: [UInt8], confirmed: Bool) async throws(SendRefusal) -> Seq {
        try await workshop.gate.send(payload, of: (grant.effect, grant.attempt), confirmed: confirmed)
    }

    /// Sends its last event, and tells that it has ended, if that can be done without waiting for anything.
    /// - Returns: whether both were done; if not, neither was.
    func end(with payload: UnsafeRawBufferPointer) throws(SendRefusal) -> Bool {
        if Task.isCancelled { throw SendRefusal(.cancelled) }
        return try workshop.gate.offer(payload, of: (grant.effect, grant.attempt), isLast: true)
    }

    func end(_ failure: Failure?) { workshop.gate.postEnd(of: grant.effect, grant.attempt, failure) }
}

/// How a body has ended, for who ran it.
struct BodyEnd: Sendable {
    /// Its task was cancelled, or will never know that it was to be.
    let isCancelled: Bool
    /// Whose source is to be finished.
    let requests: NewerRequests?
}

/// What all bodies of one feedback share: a body holds this one object, whose count of references is what two threads change
/// for each of them.
final class Workshop: Sendable {
    let runner: any FeedbackRunner
    /// The history whose journal named the effects: without it, another life of the loop would reuse their names.
    let history: History
    /// Where bodies leave their events and their ends.
    let gate: OutboxGate
    let pool: BodyPool

    init(runner: any FeedbackRunner, history: History, gate: OutboxGate, pool: BodyPool) {
        self.runner = runner
        self.history = history
        self.gate = gate
        self.pool = pool
    }
}

/// The newer requests of a body, guarded by the lock of the pool's line. A class, as `RunningTask` is: a value would be of a
/// size that only the standard library knows, and each copy of what holds one a call through its type.
final class NewerRequests: @unchecked Sendable {
    @exclusivity(unchecked) var line = RequestLine()
    /// Once there will be no more: what is to be finished.
    @exclusivity(unchecked) var source: RequestLine.Source?
}

/// A task that runs, as it is known to itself. To be used only while it cannot end.
final class RunningTask: @unchecked Sendable {
    private let task: UnsafeCurrentTask

    init(task: UnsafeCurrentTask) { self.task = task }

    func cancel() { task.cancel() }
}
