internal import LoopLock

/// How often a store has told of changes.
final class ChangeCounter: Sendable {
    private let count = Locked<UInt64>(0)

    var number: UInt64 { count.withLock { $0 } }

    /// Counts one, before those who watch are told.
    func add() { count.withLock { $0 &+= 1 } }
}

/// Which stores one reading has looked at, and how often each had told of changes by then.
///
/// Observation watches what was read only once all of it has been read: a change in between is told to nobody. Who asks
/// here after that knows whether there was one.
final class ReadingLog: Sendable {
    /// The reading that is going on in this task.
    @TaskLocal static var current: ReadingLog?

    private let looks = Locked<[(changes: ChangeCounter, number: UInt64)]>([])

    /// Something is about to be read.
    func look(at changes: ChangeCounter) {
        let number = changes.number
        looks.withLock { looks in
            // Mostly one store is read many times.
            if looks.last?.changes !== changes { looks.append((changes, number)) }
        }
    }

    /// Whether a store has told of a change since it was looked at.
    var isOutdated: Bool { looks.withLock { $0 }.contains { $0.changes.number != $0.number } }
}
