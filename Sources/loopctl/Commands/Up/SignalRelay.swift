import LoopNode
import ZMQ

/// Reads signals on a thread of its own and passes them on, until it is stopped.
final class SignalRelay: Sendable {
    private let over: Wakeup

    /// - Parameter take: called with each signal, on the relay's thread.
    init(_ signals: SignalWatch, take: @escaping @Sendable (SignalWatch.Signal) -> Void) throws {
        let over = try Wakeup()
        self.over = over
        _ = try NodeThread("loop-signals") {
            var polls = PollSet()
            polls.add(descriptor: signals.descriptor)
            let end = polls.add(descriptor: over.descriptor)
            while (try? polls.wait(milliseconds: nil)) != nil, !polls.isReadable(end) {
                while let signal = signals.next() { take(signal) }
            }
        }
    }

    func end() { over.signal() }
}
