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
    /// The history whose journal named the effect: without it, another life of the loop would reuse the name.
    let history: History
    /// Where the body leaves its events and its end.
    private let gate: OutboxGate
    private let runner: any FeedbackRunner
    private let pool: BodyPool

    // Guarded by the lock of the pool's line.
    /// The task that runs the body, while it does. Others may run in it before and after.
    @exclusivity(unchecked) private var task: RunningTask?
    @exclusivity(unchecked) private var isCancelled = false
    /// Somebody uses `task`, which must not go on to another body meanwhile.
    @exclusivity(unchecked) private var isCancelling = false
    @exclusivity(unchecked) private var isOver = false
    /// Made for the first newer request, or the first who asks for them.
    @exclusivity(unchecked) private var requests: RequestLine?

    init(_ grant: Grant, history: History, gate: OutboxGate, runner: any FeedbackRunner, pool: BodyPool) {
        self.grant = grant
        self.history = history
        self.gate = gate
        self.runner = runner
        self.pool = pool
    }

    // MARK: The owning thread

    /// The request has changed.
    func update(_ bytes: [UInt8]) {
        guard let request = runner.request(bytes) else { return }
        let source = pool.line.withLock { _ in isOver ? nil : changeRequests { $0.replace(with: request) } }
        source?.yield(request)
    }

    func cancel() {
        let (task, source) = pool.line.withLock { _ -> (RunningTask?, RequestLine.Source?) in
            isCancelled = true
            isCancelling = self.task != nil
            return (self.task, finishRequests())
        }
        if let task {
            task.cancel()
            pool.line.withLock { _ in isCancelling = false }
        }
        source?.finish()
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

    private func finishRequests() -> RequestLine.Source? {
        isOver = true
        return requests?.finish()
    }

    private func changeRequests<Result>(_ change: (inout RequestLine) -> Result) -> Result {
        var line = requests.take() ?? RequestLine()
        defer { requests = line }
        if isOver { _ = line.finish() }
        return change(&line)
    }

    // MARK: The body

    nonisolated(nonsending) func run() async { await runner.run(self) }

    var newerRequests: AsyncStream<any Sendable> { pool.line.withLock { _ in changeRequests { $0.stream() } } }

    var idempotencyKey: String { "\(runner.loop)/\(history)/\(grant.effect)" }

    func send(_ payload: [UInt8], confirmed: Bool) async throws(SendRefusal) -> Seq {
        try await gate.send(payload, of: (grant.effect, grant.attempt), confirmed: confirmed)
    }

    /// Sends its last event, and tells that it has ended, if that can be done without waiting for anything.
    /// - Returns: whether both were done; if not, neither was.
    func end(with payload: UnsafeRawBufferPointer) throws(SendRefusal) -> Bool {
        if Task.isCancelled { throw SendRefusal(.cancelled) }
        return try gate.offer(payload, of: (grant.effect, grant.attempt), isLast: true)
    }

    func end(_ failure: Failure?) { gate.postEnd(of: grant.effect, grant.attempt, failure) }
}

/// How a body has ended, for who ran it.
struct BodyEnd: Sendable {
    /// Its task was cancelled, or will never know that it was to be.
    let isCancelled: Bool
    /// To be finished.
    let requests: RequestLine.Source?
}

/// A task that runs, as it is known to itself. To be used only while it cannot end.
struct RunningTask: @unchecked Sendable {
    let task: UnsafeCurrentTask

    func cancel() { task.cancel() }
}
