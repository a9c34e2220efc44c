import Glibc
import LoopCollections

/// Ends the process of a node that has ended if Swift's pool is blocked, because then code that awaits the node's end never runs.
final class LastResort: Sendable {
    /// The length of one wait for a task in the pool.
    private static var delay: Duration { .milliseconds(100) }
    /// The pool counts as blocked if a new task in it has not begun after this many waits. They are counted, so that a time in
    /// which the whole process was stopped counts as one.
    private static var waitsCount: Int { 20 }

    /// Whether the program has gone on, or a task has run in the pool.
    private let isAlive = Monitor(false)
    private let log: NodeLog

    init(_ log: NodeLog) { self.log = log }

    /// Starts the watch when the node has ended. The process exits if the pool runs nothing for two seconds.
    /// - Parameter result: the exit code, or the error, which is logged first.
    func arm(_ result: Result<Int32, any Error>) {
        // If no thread can be made, the process ends when a body releases its thread.
        _ = try? NodeThread("loop-end", stackBytes: 1 << 20) { [self] in
            // Detached, because it must not depend on the tasks that may block the pool.
            Task.detached { [self] in disarm() }
            for _ in 0..<Self.waitsCount where isAlive.wait(until: { $0 }, timeout: Self.delay) { return }
            log.note(
                .poolBlocked, "no thread of Swift's pool is free: the process ends without what runs or waits there")
            let code: Int32
            switch result {
            case .success(let verdict): code = verdict
            case .failure(let error):
                log.note(.failed, "\(error)", [.reason("\(error)")])
                code = NodeProgram.code(of: error)
            }
            StandardError.flush(within: .seconds(1))
            fflush(nil)
            exit(code)
        }
    }

    /// Ends the watch, because the program continues by itself.
    func disarm() {
        isAlive.withLock { $0 = true }
        isAlive.broadcast()
    }
}
