internal import LoopCollections

/// Counts how often a store has notified its observers.
final class ChangeCounter: Sendable {
    private let count = Locked<UInt64>(0)

    var number: UInt64 { count.withLock { $0 } }

    /// Counts one change, before observers are notified.
    func add() { count.withLock { $0 &+= 1 } }
}

/// The stores that were read in one reading, and how often each had notified its observers by then.
///
/// Observation tracks what was read only after all of it has been read, so it misses a change in between. This log shows whether
/// there was one.
final class ReadingLog: Sendable {
    /// The reading in progress in this task.
    @TaskLocal static var current: ReadingLog?

    private let looks = Locked<[(changes: ChangeCounter, number: UInt64)]>([])

    /// Notes that a store is about to be read.
    func look(at changes: ChangeCounter) {
        let number = changes.number
        looks.withLock { looks in
            // Usually one store is read many times.
            if looks.last?.changes !== changes { looks.append((changes, number)) }
        }
    }

    /// Whether a store has changed since it was read.
    var isOutdated: Bool { looks.withLock { $0 }.contains { $0.changes.number != $0.number } }
}
