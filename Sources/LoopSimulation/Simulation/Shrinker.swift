/// Makes a failing run smaller while it still breaks that promise: a shorter time, a simpler plan, fewer faults (delta debugging,
/// Zeller and Hildebrandt 2002). A run's scenario decides everything, so a failure always shrinks to one result.
struct Shrinker {
    private let runsMax: Int
    private var best: SimulationFailure
    private var isStill: Bool { runCount >= runsMax }
    private(set) var runCount = 0

    /// - Parameter runsMax: the largest number of smaller runs to try.
    init(_ failure: SimulationFailure, runsMax: Int = 1000) {
        self.runsMax = runsMax
        best = failure
    }

    /// The smallest failure that was found.
    mutating func shrink() -> SimulationFailure {
        var known: Int?
        // After one pass has removed something, the next one may remove more.
        while best.size != known, !isStill {
            known = best.size
            shorten()
            simplify()
            leaveOutFaults()
        }
        return best
    }

    private mutating func shorten() {
        guard let end = best.time.split(separator: ".").first.flatMap({ Int($0) }) else { return }
        for seconds in [end + 1, end + 2, end / 2 + 1, best.scenario.seconds / 2, best.scenario.seconds - 1]
        where 0 < seconds && seconds < best.scenario.seconds {
            var smaller = best.scenario
            smaller.seconds = seconds
            smaller.milliseconds = 0
            attempt(smaller)
        }
    }

    private mutating func simplify() {
        for simplification in best.again.simplifications
        where !best.scenario.simpler.contains(simplification) {
            var smaller = best.scenario
            smaller.simpler.insert(simplification)
            attempt(smaller)
        }
    }

    private mutating func leaveOutFaults() {
        var share = 1
        while !isStill {
            let faults = remaining
            if faults.isEmpty { return }
            let size = max(1, faults.count / share)
            for start in stride(from: 0, to: faults.count, by: size) {
                var smaller = best.scenario
                smaller.withoutFaults.formUnion(faults[start..<min(start + size, faults.count)])
                attempt(smaller)
            }
            if size == 1 { return }
            share *= 2
        }
    }

    /// The faults that took place before the violation, by their number.
    private var remaining: [Int] { (0..<best.faultCount).filter { !best.scenario.withoutFaults.contains($0) } }

    private mutating func attempt(_ scenario: Scenario) {
        guard !isStill else { return }
        runCount += 1
        guard let failure = best.again.run(scenario, false), failure.violation.promise == best.violation.promise,
            failure.size <= best.size
        else { return }
        best = failure
    }
}

extension SimulationFailure {
    /// The size of a failure. Faults count more than steps, because a reader has to understand them.
    fileprivate var size: Int { remainingCount * 1_000_000 + step }

    /// The number of faults that were not left out.
    fileprivate var remainingCount: Int { faultCount - scenario.withoutFaults.count { $0 < faultCount } }

    /// The smallest run that was found to break this promise, with its transcript.
    /// - Parameter runsMax: the largest number of smaller runs to try.
    public func shrunk(runsMax: Int = 1000) -> ShrunkFailure {
        var shrinker = Shrinker(self, runsMax: runsMax)
        let smallest = shrinker.shrink()
        let recorded = again.run(smallest.scenario, true)
        return ShrunkFailure(failure: recorded ?? smallest, runCount: shrinker.runCount)
    }
}

/// A failure made small, for people.
public struct ShrunkFailure: Sendable, CustomStringConvertible {
    /// The smallest failing run that was found. It breaks the promise of the first failure.
    public let failure: SimulationFailure
    /// How many runs it took to find it.
    package let runCount: Int

    /// The number of faults in it.
    package var faultCount: Int { failure.remainingCount }

    /// How far the failure was shrunk, and the failure itself with its transcript.
    public var description: String {
        "shrunk by \(runCount) runs to \(faultCount) faults and \(failure.step) steps:\n\(failure)"
    }
}
