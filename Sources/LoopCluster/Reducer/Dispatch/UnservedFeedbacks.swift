import LoopCore

/// The feedbacks whose effects wait while no worker serves them.
struct UnservedFeedbacks: Sendable {
    /// How long effects may wait for a worker before that is reported.
    private static let patience = Duration.seconds(5)

    private struct Since: Sendable {
        let time: MonotonicTime
        var isTold = false
    }

    private var since: [UInt32: Since] = [:]

    /// Notes which feedbacks are unserved now.
    /// - Parameter unserved: the numbers of the feedbacks, in order.
    /// - Returns: the feedbacks to report now, and those that were reported and are served again.
    mutating func review(
        _ unserved: [UInt32], at now: MonotonicTime
    ) -> (new: [UInt32], served: [(feedback: UInt32, after: Duration)]) {
        var served: [(feedback: UInt32, after: Duration)] = []
        for (feedback, known) in since.sorted(by: { $0.key < $1.key }) where !unserved.contains(feedback) {
            since[feedback] = nil
            if known.isTold { served.append((feedback, now - known.time)) }
        }
        var new: [UInt32] = []
        for feedback in unserved {
            var known = since[feedback] ?? Since(time: now)
            if !known.isTold, now - known.time >= Self.patience {
                known.isTold = true
                new.append(feedback)
            }
            since[feedback] = known
        }
        return (new, served)
    }
}
