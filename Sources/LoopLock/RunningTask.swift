// Unsafe: whoever cancels a running task keeps it alive; a job runs once, on the executor that has taken it from its line.

/// A task before its maker has a handle of it, so that others can cancel it while it runs for the first time.
///
/// Unchecked: any thread may cancel a task whose memory lives. The maker of an immediate task owns it until it has the
/// handle, and may use this value until then.
@safe public struct RunningTask: @unchecked Sendable {
    private let task: UnsafeCurrentTask

    /// The task that asks, nil outside of tasks.
    public static var current: RunningTask? {
        unsafe withUnsafeCurrentTask { task in unsafe task.map { unsafe RunningTask(task: $0) } }
    }

    /// Cancels the task. It must still be there.
    public func cancel() { unsafe task.cancel() }
}

extension TaskExecutor {
    /// Runs a job on this thread, in the name of this executor. Each job runs once.
    public func run(_ job: UnownedJob) { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
}
