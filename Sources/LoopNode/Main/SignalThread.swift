import Glibc
import ZMQ

/// Waits for SIGTERM, SIGINT and SIGHUP on a separate thread. The first one asks for a clean stop, the second ends the process.
package final class SignalThread: Sendable {
    private let ended: Wakeup

    package init(_ signals: SignalWatch, onFirst: @escaping @Sendable () -> Void) throws {
        let ended = try Wakeup()
        self.ended = ended
        _ = try NodeThread("loop-signals") {
            var polls = PollSet()
            polls.add(descriptor: signals.descriptor)
            let over = polls.add(descriptor: ended.descriptor)
            var isSecond = false
            while (try? polls.wait(milliseconds: nil)) != nil {
                if polls.isReadable(over) { return }
                while signals.next() != nil {
                    if isSecond { _exit(130) }
                    isSecond = true
                    onFirst()
                }
            }
        }
    }

    package func end() { ended.signal() }
}
