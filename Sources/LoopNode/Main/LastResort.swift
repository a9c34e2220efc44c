import Glibc
import LoopLock

/// Ends the process of a node that has ended if Swift's pool runs nothing any more. Code that awaits the node's end would never run.
final class LastResort: Sendable {
    /// The pool counts as blocked if a task that is started in it has not begun after so many waits of this length. Each wait has to
    /// pass: a process that was stopped for a while has not waited.
    private static var delay: Duration { .milliseconds(100) }
    private static var waitsCount: Int { 20 }

    /// Whether the program has gone on, or a task has run in the pool.
    private let isAlive = Monitor(false)
    private let log: NodeLog

    init(_ log: NodeLog) { self.log = log }

    /// The node has ended. The process exits if the pool runs nothing for two seconds.
    /// - Parameter result: the code to exit with, or the error, which is logged first.
    func arm(_ result: Result<Int32, any Error>) {
        // If no thread can be made, the process ends when a body gives its thread back.
        _ = try? NodeThread("loop-end", stackBytes: 1 << 20) { [self] in
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

    /// The program goes on by itself.
    func disarm() {
        isAlive.withLock { $0 = true }
        isAlive.broadcast()
    }
}
