import LoopCluster

/// G10: queues stay within their limits.
struct Bounded: Checker {
    static let promise = Promise.bounded
    private(set) var checkCount = 0

    mutating func observe(_ observation: Observation, _ book: EntryBook) throws(Violation) {
        if case .queued(let queue, let max) = observation {
            checkCount += 1
            if queue.count > max {
                throw Violation(.bounded, "\(queue.kind.rawValue): \(queue.count), the limit is \(max)")
            }
        }
        guard case .measured(let entries, let entriesMax, let lag, let lagMax) = observation else { return }
        checkCount += 1
        if entries > entriesMax {
            throw Violation(.bounded, "an outbox holds \(entries) entries, the limit is \(entriesMax)")
        }
        if lag > lagMax {
            throw Violation(.bounded, "\(lag) inbox messages are unconfirmed, the window is \(lagMax)")
        }
    }
}
