import LoopLock
import LoopNode
import LoopWire
import ZMQ

/// Asks the reducer for its status repeatedly, on a thread of its own, until it is stopped.
final class StatusPoller: Sendable {
    private let isOver = Monitor(false)

    /// - Parameter take: called with each report, on the poller's thread.
    init(
        _ reducer: ReducerAddress, every interval: Duration, take: @escaping @Sendable (StatusReport) -> Void
    ) throws {
        let isOver = isOver
        let context = try ZMQContext()
        _ = try NodeThread("loop-status") {
            while !isOver.wait(until: { $0 }, timeout: interval) {
                // A reducer that does not answer is starting, ending or crashed. The end of its process shows which.
                if let report = try? StatusProbe.ask(reducer, within: .seconds(1), context: context) { take(report) }
            }
        }
    }

    func end() {
        isOver.withLock { $0 = true }
        isOver.broadcast()
    }
}
