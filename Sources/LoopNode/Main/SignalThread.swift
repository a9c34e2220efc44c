import Glibc
package import Linux
import LoopCollections
import ZMQ

/// Reads signals on a thread of its own and passes them on, until it is stopped.
package final class SignalThread: Sendable {
    private let ended: Wakeup

    /// - Parameter take: called with the number of each signal, on this thread.
    package init(_ signals: SignalPipe, take: @escaping @Sendable (Int32) -> Void) throws {
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
    package convenience init(_ signals: SignalPipe, onFirst: @escaping @Sendable () -> Void) throws {
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

extension SignalPipe {
    /// Watches the signals that ask a program to end: from a service manager or `kill`, by Ctrl-C, and when the terminal has gone.
    /// Call it once in a process. A SIGHUP that was ignored when the process began (`nohup`) stays ignored.
    ///
    /// - Throws: if no descriptors are free.
    package static func ofProcess() throws(SystemError) -> SignalPipe {
        try SignalPipe([SIGTERM, SIGINT, SIGHUP], restores: false)
    }
}
