import Glibc
import LoopLock

/// Ends the process of a node that has ended if bodies of its effects leave no thread of Swift's pool free. Code that awaits the node's
/// end would never run.
final class LastResort: Sendable {
    private static var delay: Duration { .seconds(1) }

    private let isOver = Monitor(false)
    private let log: NodeLog

    init(_ log: NodeLog) { self.log = log }

    /// The node has ended. Unless `disarm` is called within a second, the process exits.
    /// - Parameter result: the code to exit with. An error is logged first, and its code is 2.
    func arm(_ result: Result<Int32, any Error>) {
        // If no thread can be made, the process ends when a body gives its thread back.
        _ = try? NodeThread("loop-end", stackBytes: 1 << 20) { [isOver, log] in
            if isOver.wait(until: { $0 }, timeout: Self.delay) { return }
            log.note(
                .poolBlocked, "bodies of effects leave no thread of Swift's pool free: the process ends without them")
            var code: Int32 = 2
            switch result {
            case .success(let verdict): code = verdict
            case .failure(let error): log.note(.failed, "\(error)", [.reason("\(error)")])
            }
            StandardError.flush(within: Self.delay)
            fflush(nil)
            exit(code)
        }
    }

    /// The program goes on by itself.
    func disarm() {
        isOver.withLock { $0 = true }
        isOver.broadcast()
    }
}
