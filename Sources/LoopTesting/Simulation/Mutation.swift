package import LoopCluster

/// A deliberately broken machine that the checkers must catch.
package struct Mutation: Sendable, CustomStringConvertible {
    /// The rules that are broken together.
    package let rules: [Rule]
    /// Within so many seeds.
    package let budget: UInt64

    package var description: String { rules.map { "\($0)" }.joined(separator: " + ") }

    /// Under these faults.
    package let mix: FaultMix

    var mixText: String { mix == .all ? "" : " of --mix \(mix)" }

    /// Every rule, broken alone.
    package static let all: [Mutation] = Rule.allCases.map { rule in
        switch rule {
        case .framesNameTheirSession: Mutation(rules: [rule], budget: 500, mix: .sessions)
        case .refusalVoidsTheAttempt, .commitsEndEarlierAttempts, .newEffectsHaveAFloor, .epochsBeginWithAState:
            Mutation(rules: [rule], budget: 2000, mix: .losses)
        case .epochsHaveANonce: Mutation(rules: [rule], budget: 500, mix: .copies)
        case .leftHistoriesStayLeft,
            .olderEpochsAreDropped, .inboxesAreBounded, .batchesNameTheirHistory, .claimComesBeforeBatches,
            .inboxGapsAreRepaired, .assignmentsAreNotOlder, .leasesRunFromTheEcho,
            .assignmentsKnowTheWatermark, .numbersOutlivePower, .transfersEndWithTheirEpoch, .deltasApplyToTheirBase:
            Mutation(rules: [rule], budget: 2000, mix: .all)
        default: Mutation(rules: [rule], budget: 100, mix: .all)
        }
    }
}

extension Simulation {
    /// Runs every mutation until it is caught, and prints a line for each.
    /// - Parameters:
    ///   - only: the one mutation to run; nil: all.
    ///   - seconds: how long faults come in each seed.
    /// - Returns: whether all were caught.
    static func runMutations(only: String?, seconds: Int, _ print: (String) -> Void) -> Bool {
        var missed = 0
        // Those that are caught soon first.
        for mutation in Mutation.all.sorted(by: { $0.budget < $1.budget })
        where only == nil || mutation.description == only {
            if let (count, failure) = hunt(
                mutation.rules, seeds: 0..<mutation.budget, seconds: seconds, mix: mutation.mix)
            {
                print(
                    "\(mutation): caught after \(count) seeds\(mutation.mixText): \(failure.violation.description.prefix(160))"
                )
            } else {
                missed += 1
                print("\(mutation): NOT CAUGHT in \(mutation.budget) seeds\(mutation.mixText)")
            }
        }
        return missed == 0
    }
}
