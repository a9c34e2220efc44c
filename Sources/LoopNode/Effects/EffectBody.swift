import LoopCluster
import LoopCore
import LoopLock
import LoopWire

/// One effect that this node was granted, from the grant to the end of its body: it waits for its turn, runs, can be given
/// newer requests, and can be cancelled at any time.
final class EffectBody: Sendable, RequestSource {
    let grant: Grant
    /// The history whose journal named the effect: without it, another life of the loop would reuse the name.
    let history: History
    /// The name of the effect's feedback; nil: it is not known.
    let feedback: String?
    /// Where the body leaves its events and its end.
    private let gate: OutboxGate
    private let runner: any EffectRunner

    /// The task, as it is known before its first wait: only while `start` has not returned.
    fileprivate struct Early: @unchecked Sendable {
        let task: UnsafeCurrentTask
    }

    fileprivate struct State {
        var task: Task<Void, Never>?
        var early: Early?
        var isCancelled = false
        /// Somebody uses `early`.
        var isCancelling = false
        var requests = RequestLine()
    }

    private let state = Locked(State())

    init(_ grant: Grant, of feedback: String?, history: History, gate: OutboxGate, runner: any EffectRunner) {
        self.grant = grant
        self.feedback = feedback
        self.history = history
        self.gate = gate
        self.runner = runner
    }

    // MARK: The owning thread

    /// The request has changed.
    func update(_ bytes: [UInt8]) {
        guard let request = runner.request(bytes, of: feedback) else { return }
        state.withLock { $0.requests.replace(with: request) }?.yield(request)
    }

    func cancel() {
        let (task, early, source) = state.withLock { state in
            state.isCancelled = true
            state.isCancelling = state.task == nil && state.early != nil
            return (state.task, state.early, state.requests.finish())
        }
        if let task {
            task.cancel()
        } else if let early {
            early.task.cancel()
            state.withLock { $0.isCancelling = false }
        }
        source?.finish()
    }

    // MARK: The pool

    /// Its turn has come. Returns when the body has ended, or waits for something for the first time. One that was cancelled
    /// meanwhile begins too, as any task does: cancelled.
    func begin() {
        guard let task = runner.start(self) else { return }
        // The task lives at least as long as this frame: so does what a cancellation uses of it.
        while !state.withLock({ $0.isKnown(as: task) }) { SystemInfo.yield() }
    }

    /// The body's task runs for the first time: a body that never waits is to hear of its cancellation too.
    func noteStart() {
        withUnsafeCurrentTask { task in
            guard let task else { return }
            let early = Early(task: task)
            let isLate = state.withLock { state in
                state.early = early
                return state.isCancelled
            }
            if isLate { task.cancel() }
        }
    }

    var newerRequests: AsyncStream<any Sendable> { state.withLock { $0.requests.stream() } }

    func send(_ payload: [UInt8], confirmed: Bool) async throws(SendRefusal) -> Seq {
        try await gate.send(payload, of: (grant.effect, grant.attempt), confirmed: confirmed)
    }

    func end(_ failure: Failure?) {
        gate.postEnd(of: grant.effect, grant.attempt, failure)
        state.withLock { $0.requests.finish() }?.finish()
    }
}

extension EffectBody.State {
    /// - Returns: false while the task is being cancelled by what was known of it before.
    fileprivate mutating func isKnown(as task: Task<Void, Never>) -> Bool {
        if isCancelling { return false }
        (self.task, early) = (task, nil)
        return true
    }
}
