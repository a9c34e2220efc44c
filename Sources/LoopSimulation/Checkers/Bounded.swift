import LoopCluster

/// G10: queues stay within their limits.
struct Bounded: Checker {
    static let promise = Promise.bounded
    private(set) var checkCount = 0

    /// Checks the measured length of a queue of the reducer.
    mutating func check(_ queue: QueueMeasure, max: Int) throws(Violation) {
        checkCount += 1
        if queue.count > max {
            throw Violation(.bounded, "\(queue.kind.rawValue): \(queue.count), the limit is \(max)")
        }
    }

    /// Checks the measured lengths of a peer's queues.
    mutating func check(_ entries: Int, max entriesMax: Int, lag: UInt64, max lagMax: UInt64) throws(Violation) {
        checkCount += 1
        if entries > entriesMax {
            throw Violation(.bounded, "an outbox holds \(entries) entries, the limit is \(entriesMax)")
        }
        if lag > lagMax {
            throw Violation(.bounded, "\(lag) inbox messages are unconfirmed, the window is \(lagMax)")
        }
    }
}
