import LoopCollections

/// A task that runs bodies one after another. It ends with the first body that waits for something or is cancelled. So bodies
/// that never wait share a task, because making one would cost more than everything else that is done for them.
///
///     starter ──▶ runner: body, body, body that waits …
///        └──────▶ runner: body, body that is cancelled
///        └──────▶ runner: body, body                           until the line is empty
final class BodyRunner: Sendable {
    /// A runner that runs nothing.
    static let none = BodyRunner()

    private struct State {
        var body: EffectBody?
        /// The task as it knows itself until it first waits.
        var early: RunningTask?
        /// The task, once it has waited or ended.
        var task: Task<Void, Never>?
        /// Whether a body of this task was cancelled. Then the task is cancelled too, and must not run another body.
        var isSpoilt = false

        var runsAnother: Bool { task == nil && !isSpoilt }
    }

    private let state = Locked(State())

    private init() {}

    /// Starts bodies in the order in which they were granted: as many at once as there are processors, and more while some wait.
    /// - Parameter executor: the executor of the calling thread, or nil to run on Swift's pool.
    static func start(_ bodies: [EffectBody], on executor: (any TaskExecutor)?) {
        // The line is reversed, and each body is removed when it begins, so that a body that waits keeps no other one alive.
        let line = Locked(Array(bodies.reversed()))
        if let executor { return start(line, on: executor) }
        // Detached for the same reason as the bodies: nothing of the granting thread is inherited. These tasks end when
        // the line is empty.
        for _ in 0..<min(SystemInfo.processorsCount, bodies.count) { Task.detached { start(line, on: nil) } }
    }

    /// Starts bodies on this thread, one after another.
    private static func start(_ line: Locked<[EffectBody]>, on executor: (any TaskExecutor)?) {
        while !line.withLock({ $0.isEmpty }) {
            let runner = BodyRunner()
            // Detached, so that an effect inherits nothing from the thread that received its grant. Returns when the task has
            // ended or waits for the first time.
            let task = Task.immediateDetached(executorPreference: executor) { await runner.run(line) }
            runner.state.withLock { $0.task = task }
        }
    }

    private nonisolated(nonsending) func run(_ line: Locked<[EffectBody]>) async {
        let early = RunningTask.current
        state.withLock { $0.early = early }
        while state.withLock({ $0.runsAnother }), let body = line.withLock({ $0.popLast() }) {
            state.withLock { $0.body = body }
            if !body.begins(in: self) { cancel(body) }
            await body.run()
            state.withLock { $0.body = nil }
        }
    }

    /// Whether the runner runs this body and has not waited since the body began.
    func isBusy(with body: EffectBody) -> Bool { state.withLock { $0.task == nil && $0.body === body } }

    /// Cancels the task if it runs this body.
    func cancel(_ body: EffectBody) {
        let (task, early) = state.withLock { state -> (Task<Void, Never>?, RunningTask?) in
            guard state.body === body else { return (nil, nil) }
            state.isSpoilt = true
            return (state.task, state.early)
        }
        if let task { task.cancel() } else { early?.cancel() }
    }
}
