/// All checkers over one run.
package struct Checkers: Sendable {
    private var all: [any Checker] = [
        OneOrder(), NothingLost(), NothingTwice(), NothingStale(), OneOwner(), DurableBeforeVisible(),
        ReplayIsExact(), ObserversConverge(), Bounded(),
    ]
    /// How often PROGRESS was judged.
    private var progressCount = 0

    package init() {}

    package mutating func observe(_ observation: Observation) throws(Violation) {
        if case .settled = observation { progressCount += 1 }
        for index in all.indices { try all[index].observe(observation) }
    }

    package var checkCounts: [Promise: Int] {
        var counts: [Promise: Int] = [.progress: progressCount]
        for checker in all { counts[type(of: checker).promise] = checker.checkCount }
        return counts
    }
}
