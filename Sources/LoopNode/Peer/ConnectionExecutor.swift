import LoopCollections

/// Runs tasks on the thread that owns a peer's sockets, in the middle of its turns.
///
/// Such a task sends without waking that thread, and learns the outcome of its event without being woken. With one event at a time
/// this saves two of eight wake-ups. A task must not block or compute for long, because the thread receives nothing meanwhile.
///
/// When the thread has ended, the remaining tasks run on Swift's pool.
final class ConnectionExecutor: TaskExecutor {
    private struct Line {
        var jobs: [UnownedJob] = []
        /// Whether the thread will look again before it sleeps.
        var isAwake = true
        var isOver = false
    }

    private let line = Locked(Line())
    private let wakeup: Wakeup

    /// - Parameter wakeup: wakes the thread, which waits for it and for its sockets.
    init(wakeup: Wakeup) { self.wakeup = wakeup }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (isOver, isAsleep) = line.withLock { line in
            if line.isOver { return (true, false) }
            line.jobs.append(job)
            return (false, !line.isAwake && line.jobs.count == 1)
        }
        if isOver {
            globalConcurrentExecutor.enqueue(job)
        } else if isAsleep {
            wakeup.signal()
        }
    }

    // MARK: The owning thread

    /// Notes that the thread is awake. It will call `maySleep` before it sleeps.
    func begin() { line.withLock { $0.isAwake = true } }

    /// Runs the jobs that wait, but not those that are added meanwhile.
    func runJobs() {
        let jobs = line.withLock { line in
            defer { line.jobs.removeAll() }
            return line.jobs
        }
        for job in jobs { run(job) }
    }

    /// Whether no job waits. If so, the next job wakes the thread.
    func maySleep() -> Bool {
        line.withLock { line in
            line.isAwake = !line.jobs.isEmpty
            return line.jobs.isEmpty
        }
    }

    /// Ends the executor, because its thread ends. The remaining jobs go to Swift's pool.
    func end() {
        let jobs = line.withLock { line in
            line.isOver = true
            defer { line.jobs.removeAll() }
            return line.jobs
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }
}
