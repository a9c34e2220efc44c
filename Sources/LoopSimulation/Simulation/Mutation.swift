package import LoopCluster

/// A machine with broken rules, which the checkers must catch.
package struct Mutation: Sendable, CustomStringConvertible {
    /// The rules that are broken together.
    package let rules: [Rule]
    /// The number of seeds within which a checker must catch it.
    package let budget: UInt64

    package var description: String { rules.map { "\($0)" }.joined(separator: " + ") }

    /// The faults under which it must be caught.
    package let mix: FaultMix

    /// Every rule, broken alone.
    package static let all: [Mutation] = Rule.allCases.map { rule in
        switch rule {
        case .framesNameTheirSession: Mutation(rules: [rule], budget: 500, mix: .sessions)
        case .refusalVoidsTheAttempt: Mutation(rules: [rule], budget: 500, mix: .claims)
        case .commitsEndEarlierAttempts, .newEffectsHaveAFloor, .epochsBeginWithAState:
            Mutation(rules: [rule], budget: 2000, mix: .losses)
        case .foreignUseIsNoticed, .refusalsSpareTheOwner: Mutation(rules: [rule], budget: 500, mix: .impostors)
        case .sessionsEndWithTheGoodbye: Mutation(rules: [rule], budget: 500, mix: .outboxes)
        case .rolesAreChecked, .groupsAreChecked, .sessionsHaveOwners, .batchesAreOfTheirOwners,
            .inboxesAreOfTheirOwners, .lossIsReportedByOwners, .revokedKeysLoseTheirSessions,
            .claimsAreOfServedGroups:
            Mutation(rules: [rule], budget: 100, mix: .keys)
        case .timersAreNotEarly, .movedTimersForgetTheirTime, .timersFireInOrder, .firedTimersAreCompleted,
            .timersAreSetAgain, .schedulesMoveOn, .schedulesAreKept:
            Mutation(rules: [rule], budget: 100, mix: .timers)
        case .timersEndWithTheLoop: Mutation(rules: [rule], budget: 500, mix: .timers)
        case .slownessIsNotLoss: Mutation(rules: [rule], budget: 100, mix: .slowness)
        case .commandsAreBounded, .assignmentsTakeANumber, .transfersAreBounded:
            Mutation(rules: [rule], budget: 500, mix: .floods)
        case .quarantinedEndsAreEnds, .survivorsAreStruck, .deferredBatchesAreWhole, .deferredBatchesAreBounded:
            Mutation(rules: [rule], budget: 500, mix: .poison)
        case .newHistoriesVoid: Mutation(rules: [rule], budget: 500, mix: .copies)
        case .updatesAreNewer, .unheardIsNotRefused, .snapshotsFollowTheirRecords,
            .settledOutcomesAreForgotten:
            Mutation(rules: [rule], budget: 2000, mix: .all)
        case .receiptsAreOfOneTurn, .emptyTurnsWait: Mutation(rules: [rule], budget: 100, mix: .overlap)
        case .appendsCompareTheChain, .appendsCompareTheTerm, .unknownIsNotSuccess, .unknownIsNotRepeated,
            .lostConnectionsEndTheTerm, .tailIsReadInTheTerm, .lossIsProven, .verdictsAreProven,
            .warmStatesAreCompared, .closestStandbysLead, .lagIsTheLeaders, .lossIsTheLeaders,
            .deposedLeadersStop:
            Mutation(rules: [rule], budget: 500, mix: .standbys)
        case .epochsHaveANonce: Mutation(rules: [rule], budget: 500, mix: .copies)
        case .leftHistoriesStayLeft, .hashesAreCompared,
            .olderEpochsAreDropped, .inboxesAreBounded, .batchesNameTheirHistory, .claimComesBeforeBatches,
            .inboxGapsAreRepaired, .assignmentsAreNotOlder, .leasesRunFromTheEcho,
            .claimsNeedAllParts, .idleSessionsAreEvicted, .effectSessionsAreEvicted,
            .assignmentsKnowTheWatermark, .numbersOutlivePower, .transfersEndWithTheirEpoch, .deltasApplyToTheirBase:
            Mutation(rules: [rule], budget: 2000, mix: .all)
        default: Mutation(rules: [rule], budget: 100, mix: .all)
        }
    }
}

extension Simulation {
    /// Runs every mutation until it is caught, and prints a line for each. A mutation with its own fault mix proves something only
    /// if the mix finds nothing in unbroken machines. At least as many seeds are run to check that.
    /// - Parameters:
    ///   - only: the one mutation to run, or nil for all.
    ///   - quick: whether to omit those that may take more than 500 seeds.
    ///   - seconds: how long faults come in each seed.
    /// - Returns: whether all were caught, and nothing else was found.
    static func runMutations(only: String?, quick: Bool, seconds: Int, _ print: (String) -> Void) -> Bool {
        var missed = 0
        let unbroken: UInt64 = quick ? 30 : 100
        var seeds: [FaultMix: UInt64] = [:]
        // Mutations that are caught soon come first.
        for mutation in Mutation.all.sorted(by: { $0.budget < $1.budget })
        where (only == nil || mutation.description == only) && (!quick || mutation.budget <= 500) {
            let place = mutation.mix == .all ? "" : " of --mix \(mutation.mix)"
            if let (count, failure) = hunt(
                mutation.rules, seeds: 0..<mutation.budget, seconds: seconds, mix: mutation.mix)
            {
                seeds[mutation.mix] = max(seeds[mutation.mix] ?? unbroken, UInt64(count))
                let found = failure.violation.description.prefix(160)
                print("\(mutation): caught after \(count) seeds\(place): \(found)")
            } else {
                missed += 1
                print("\(mutation): NOT CAUGHT in \(mutation.budget) seeds\(place)")
            }
        }
        for mix in FaultMix.allCases where mix != .all {
            guard let count = seeds[mix] else { continue }
            let report = run((0..<count).lazy.map { Scenario(seed: $0, seconds: seconds, mix: mix) })
            missed += report.failures.count
            for failure in report.failures { print("\(failure)") }
            print("nothing broken: \(report.failures.count) violations in \(count) seeds of --mix \(mix)")
        }
        return missed == 0
    }
}
