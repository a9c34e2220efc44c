/// The result of a run of many seeds.
package struct SimulationReport: Sendable, CustomStringConvertible {
    /// The number of seeds that were run.
    package private(set) var seedCount = 0
    /// The counts of all runs.
    package private(set) var tally = Tally()
    /// The virtual time of all runs, in seconds.
    package private(set) var simulatedSeconds = 0.0
    /// The number of loops that have ended.
    package private(set) var endCount = 0
    /// The runs that broke a promise, in the order of their seeds.
    package private(set) var failures: [SimulationFailure] = []
    /// How often each promise was checked.
    package private(set) var checkCounts: [Promise: Int] = [:]

    mutating func note<Work>(_ cluster: World<Work>, _ failure: SimulationFailure?) {
        seedCount += 1
        tally.add(cluster.tally)
        simulatedSeconds += Double(cluster.now) / 1e9
        if cluster.outcome != nil { endCount += 1 }
        checkCounts.merge(cluster.checkCounts, uniquingKeysWith: +)
        if let failure { failures.append(failure) }
    }

    /// The number of faults of all kinds.
    package var faultCount: Int { tally.faultCounts.values.reduce(0, +) }

    /// The promises that no check covered. That counts as a failure too.
    package var uncheckedPromises: [String] {
        Promise.own.filter { checkCounts[$0, default: 0] == 0 }.map(\.rawValue)
    }

    /// Whether no promise was broken and each was checked at least once.
    package var isClean: Bool { failures.isEmpty && uncheckedPromises.isEmpty }

    /// One line: what was run, checked and found.
    package var description: String {
        let kinds = SimulationPlan.Fault.allCases.map { "\($0.rawValue) \(tally.faultCounts[$0, default: 0])" }
        let checks = Promise.own.map { "\($0.rawValue) \(checkCounts[$0, default: 0])" }
        var line =
            "\(seedCount) seeds, \(Int(simulatedSeconds)) simulated seconds, \(tally.eventCount) events, \(endCount) ends,"
            + " \(faultCount) faults (\(kinds.joined(separator: ", ")));"
            + " checks: \(checks.joined(separator: ", ")); \(failures.count) violations"
        if tally.takeoverCount > 0 {
            line +=
                "; \(tally.takeoverCount) takeovers, \(tally.warmTakeoverCount) of them warm, \(tally.completionCount) with records"
                + " that had no receipt, \(tally.lateChangeCount) changes of the database that their process did not hear of"
        }
        if !uncheckedPromises.isEmpty { line += "; never checked: \(uncheckedPromises.joined(separator: ", "))" }
        return line
    }
}

/// One run that broke a promise.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    package let scenario: Scenario
    /// The number of steps before the violation was found.
    public let step: Int
    /// The virtual time of the violation, in seconds since the beginning.
    public let time: String
    package let violation: Violation
    /// The last messages, the oldest first.
    public let transcript: [String]
    /// The number of faults that were drawn until then.
    package let faultCount: Int
    /// How to run it again.
    let again: Again

    /// The promise: "G1" and so on as in the documentation, "PROGRESS", "INVARIANT", or "TEST" if the test cannot be run.
    public var promise: String { violation.promise.rawValue }
    /// How it was broken.
    public var reason: String { violation.what }

    /// The seed that decided the run.
    public var seed: UInt64 { scenario.seed }

    /// The violation, its position, the messages before it, and the command that shows it again.
    public var description: String {
        (["seed \(seed), step \(step), second \(time): \(violation)"] + transcript.map { "    \($0)" } + [
            "again: \(again.command(scenario))"
        ]).joined(separator: "\n")
    }
}

/// How people and the shrinker run a scenario again.
package struct Again: Sendable {
    let command: @Sendable (Scenario) -> String
    /// The simplifications that can be tried.
    var simplifications = Scenario.Simplification.allCases
    /// Runs a scenario. `records` is whether to keep the messages for people.
    package let run: @Sendable (Scenario, _ records: Bool) -> SimulationFailure?
}
