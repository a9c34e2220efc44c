import LoopLock

/// Begins the bodies of effects in the order in which they were granted, on threads of Swift's pool: on as many at once as
/// the machine has processors, so that one body that computes does not hold up the others.
///
/// A task for each body, made by the thread that hears of the grants, would cost that thread more than everything else it
/// does for an effect. Here it leaves all that came in one message at once, and wakes somebody only where nobody is awake.
final class BodyPool: Sendable {
    private struct Line {
        var bodies: [EffectBody?] = []
        var first = 0
        var runnersCount = 0

        var waitingCount: Int { bodies.count - first }

        mutating func append(_ new: [EffectBody]) {
            // A line that is never empty must not keep the places of all who ever stood in it.
            if first > waitingCount + new.count {
                bodies.removeFirst(first)
                first = 0
            }
            bodies.append(contentsOf: new)
        }

        mutating func next() -> EffectBody? {
            guard first < bodies.count else {
                bodies.removeAll(keepingCapacity: true)
                first = 0
                return nil
            }
            defer { first += 1 }
            return bodies[first].take()
        }
    }

    private let line = Locked(Line())
    private let runnersMax: Int

    /// - Parameter runnersMax: how many bodies begin at the same time; a body that waits for something is not counted.
    init(runnersMax: Int) { self.runnersMax = runnersMax }

    /// Bodies that are to begin, behind the others.
    func post(_ bodies: [EffectBody]) {
        let missingCount = line.withLock { line in
            line.append(bodies)
            let missing = max(min(runnersMax, line.waitingCount) - line.runnersCount, 0)
            line.runnersCount += missing
            return missing
        }
        // Detached: they belong to no effect, and end when the line is empty.
        for _ in 0..<missingCount { Task.detached { self.run() } }
    }

    /// How many places the line takes, with those of bodies that have begun.
    var placesCount: Int { line.withLock { $0.bodies.count } }

    private func run() {
        while let body = next() { body.begin() }
    }

    private func next() -> EffectBody? {
        line.withLock { line in
            if let body = line.next() { return body }
            line.runnersCount -= 1
            return nil
        }
    }
}
