package import LoopCluster

/// A deliberately broken machine that the checkers must catch.
package struct Mutation: Sendable, CustomStringConvertible {
    /// The rules that are broken together.
    package let rules: [Rule]
    /// Within so many seeds.
    package let budget: UInt64

    package var description: String { rules.map { "\($0)" }.joined(separator: " + ") }

    /// Every rule, broken alone; but the voiding refusal stands behind the claim, and shows only when that is broken too.
    package static let all: [Mutation] = Rule.allCases.map { rule in
        switch rule {
        case .refusalVoidsTheAttempt: Mutation(rules: [rule, .claimComesBeforeBatches], budget: 3000)
        case .olderEpochsAreDropped, .batchesNameTheirHistory, .leasesRunFromTheEcho, .assignmentsAreNotOlder,
            .assignmentsKnowTheWatermark, .framesNameTheirSession, .claimComesBeforeBatches,
            .inboxGapsAreRepaired:
            Mutation(rules: [rule], budget: 3000)
        default: Mutation(rules: [rule], budget: 100)
        }
    }
}

extension Simulation {
    /// Runs every mutation until it is caught, and prints a line for each.
    /// - Returns: whether all were caught.
    public static func runMutations(_ print: (String) -> Void) -> Bool {
        var missed = 0
        // Those that are caught soon first.
        for mutation in Mutation.all.sorted(by: { $0.budget < $1.budget }) {
            if let (count, failure) = hunt(mutation.rules, seeds: 0..<mutation.budget) {
                print("\(mutation): caught after \(count) seeds: \(failure.violation.prefix(160))")
            } else {
                missed += 1
                print("\(mutation): NOT CAUGHT in \(mutation.budget) seeds")
            }
        }
        return missed == 0
    }
}
