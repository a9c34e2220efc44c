// Unsafe: the caller of `cancel` keeps the task alive. A job runs once, on the executor that has taken it from its queue.

/// A task whose creator does not have its handle yet. Other threads can cancel it while it runs for the first time.
///
/// Unchecked, because any thread may cancel a task whose memory lives. The creator of an immediate task owns it until it has the
/// handle, and may use this value until then.
@safe package struct RunningTask: @unchecked Sendable {
    private let task: UnsafeCurrentTask

    /// The current task, or nil outside of tasks.
    package static var current: RunningTask? {
        unsafe withUnsafeCurrentTask { task in unsafe task.map { unsafe RunningTask(task: $0) } }
    }

    /// Cancels the task, which must still exist.
    package func cancel() { unsafe task.cancel() }
}

extension TaskExecutor {
    /// Runs a job on this thread, on behalf of this executor. Each job runs once.
    package func run(_ job: UnownedJob) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
}
