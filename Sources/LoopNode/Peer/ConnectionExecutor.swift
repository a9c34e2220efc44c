import LoopLock

/// Runs tasks on the thread that owns a peer's sockets, in the middle of its turns.
///
/// Such a task sends without waking that thread, and is told what became of its event without being woken by it: with one
/// event at a time these are two of eight wake-ups. It must not compute for long, nor block: nothing is heard meanwhile.
///
/// When the thread has ended, what is left runs on Swift's pool.
final class ConnectionExecutor: TaskExecutor {
    private struct Line {
        var jobs: [UnownedJob] = []
        /// The thread will look again before it sleeps.
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

    /// The thread is awake: it will call `maySleep` before it sleeps.
    func begin() { line.withLock { $0.isAwake = true } }

    /// Runs the jobs that wait, but not those that they leave.
    func runJobs() {
        let jobs = line.withLock { line in
            defer { line.jobs.removeAll() }
            return line.jobs
        }
        for job in jobs { run(job) }
    }

    /// Whether no job waits. From then on a job wakes the thread.
    func maySleep() -> Bool {
        line.withLock { line in
            line.isAwake = !line.jobs.isEmpty
            return line.jobs.isEmpty
        }
    }

    /// The thread ends.
    func end() {
        let jobs = line.withLock { line in
            line.isOver = true
            defer { line.jobs.removeAll() }
            return line.jobs
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }
}
