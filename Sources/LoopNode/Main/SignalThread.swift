import Glibc
import LoopCollections
import ZMQ

/// Reads signals on a thread of its own and passes them on, until it is stopped.
package final class SignalThread: Sendable {
    private let ended: Wakeup

    /// - Parameter take: called with each signal, on this thread.
    package init(_ signals: SignalWatch, take: @escaping @Sendable (SignalWatch.Signal) -> Void) throws {
        let ended = try Wakeup()
        self.ended = ended
        _ = try NodeThread("loop-signals") {
            var polls = PollSet()
            polls.add(descriptor: signals.descriptor)
            let over = polls.add(descriptor: ended.descriptor)
            while (try? polls.wait(milliseconds: nil)) != nil, !polls.isReadable(over) {
                while let signal = signals.next() { take(signal) }
            }
        }
    }

    /// Calls `onFirst` at the first signal, which asks for a clean stop. The second signal ends the process.
    package convenience init(_ signals: SignalWatch, onFirst: @escaping @Sendable () -> Void) throws {
        let isSecond = Locked(false)
        try self.init(signals) { _ in
            let ends = isSecond.withLock { isSecond in
                defer { isSecond = true }
                return isSecond
            }
            if ends { _exit(130) }
            onFirst()
        }
    }

    package func end() { ended.signal() }
}
