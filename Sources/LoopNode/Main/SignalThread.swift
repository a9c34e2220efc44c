import Glibc
package import Linux
import LoopCollections
package import LoopCore
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

    /// Calls `onFirst` at the first signal, which asks for a clean stop. A later one ends the process, as ``StopSignals`` says.
    package convenience init(_ signals: SignalPipe, onFirst: @escaping @Sendable () -> Void) throws {
        let stop = Locked(StopSignals())
        try self.init(signals) { _ in
            switch stop.withLock({ $0.take(at: SystemClock.monotonic) }) {
            case .first: onFirst()
            case .same: break
            case .later: _exit(130)
            }
        }
    }

    package func end() { ended.signal() }
}

/// Tells a second request to end from a repetition of the first: `timeout` sends its signal to its child, and then to the group of
/// processes that the child is in.
package struct StopSignals: Sendable {
    package enum Meaning: Sendable { case first, same, later }

    private var firstAt: MonotonicTime?

    /// How long signals belong to the first one.
    static var window: Duration { .milliseconds(500) }

    package init() {}

    package mutating func take(at now: MonotonicTime) -> Meaning {
        guard let firstAt else {
            firstAt = now
            return .first
        }
        return now - firstAt < Self.window ? .same : .later
    }
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
