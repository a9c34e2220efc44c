package import LoopCluster

/// A machine with a broken rule, which the checkers must catch.
package struct Mutation: Sendable, CustomStringConvertible {
    package let rule: Rule
    /// The number of seeds within which a checker must catch it.
    package let budget: UInt64
    /// The faults under which it must be caught.
    package let mix: FaultMix

    package var description: String { "\(rule)" }

    /// Every rule, broken alone.
    package static let all = Rule.allCases.map { Mutation($0) }

    private init(_ rule: Rule) {
        self.rule = rule
        let hunt: (budget: UInt64, mix: FaultMix) =
            switch rule {
            case .framesNameTheirSession: (500, .sessions)
            case .refusalVoidsTheAttempt: (500, .claims)
            case .commitsEndEarlierAttempts, .newEffectsHaveAFloor, .epochsBeginWithAState: (2000, .losses)
            case .foreignUseIsNoticed, .refusalsSpareTheOwner: (500, .impostors)
            case .sessionsEndWithTheGoodbye: (500, .outboxes)
            case .rolesAreChecked, .groupsAreChecked, .sessionsHaveOwners, .batchesAreOfTheirOwners,
                .inboxesAreOfTheirOwners, .lossIsReportedByOwners, .revokedKeysLoseTheirSessions,
                .claimsAreOfServedGroups:
                (100, .keys)
            case .timersAreNotEarly, .movedTimersForgetTheirTime, .timersFireInOrder, .firedTimersAreCompleted,
                .timersAreSetAgain, .schedulesMoveOn, .schedulesAreKept:
                (100, .timers)
            case .timersEndWithTheLoop: (500, .timers)
            case .slownessIsNotLoss: (100, .slowness)
            case .commandsAreBounded, .assignmentsTakeANumber, .transfersAreBounded: (500, .floods)
            case .quarantinedEndsAreEnds, .survivorsAreStruck, .deferredBatchesAreWhole, .deferredBatchesAreBounded:
                (500, .poison)
            case .newHistoriesVoid, .epochsHaveANonce: (500, .copies)
            case .receiptsAreOfOneTurn, .emptyTurnsWait: (100, .overlap)
            case .appendsCompareTheChain, .appendsCompareTheTerm, .unknownIsNotSuccess, .unknownIsNotRepeated,
                .lostConnectionsEndTheTerm, .tailIsReadInTheTerm, .lossIsProven, .verdictsAreProven,
                .warmStatesAreCompared, .closestStandbysLead, .lagIsTheLeaders, .lossIsTheLeaders,
                .deposedLeadersStop:
                (500, .standbys)
            case .updatesAreNewer, .unheardIsNotRefused, .snapshotsFollowTheirRecords, .settledOutcomesAreForgotten,
                .leftHistoriesStayLeft, .hashesAreCompared, .olderEpochsAreDropped, .inboxesAreBounded,
                .batchesNameTheirHistory, .claimComesBeforeBatches, .inboxGapsAreRepaired, .assignmentsAreNotOlder,
                .leasesRunFromTheEcho, .claimsNeedAllParts, .idleSessionsAreEvicted, .effectSessionsAreEvicted,
                .assignmentsKnowTheWatermark, .numbersOutlivePower, .transfersEndWithTheirEpoch,
                .deltasApplyToTheirBase:
                (2000, .all)
            default: (100, .all)
            }
        (budget, mix) = hunt
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
    package static func runMutations(only: String?, quick: Bool, seconds: Int, _ print: (String) -> Void) -> Bool {
        var missed = 0
        let unbroken: UInt64 = quick ? 30 : 100
        var seeds: [FaultMix: UInt64] = [:]
        // Mutations that are caught soon come first.
        for mutation in Mutation.all.sorted(by: { $0.budget < $1.budget })
        where (only == nil || mutation.description == only) && (!quick || mutation.budget <= 500) {
            let place = mutation.mix == .all ? "" : " of --mix \(mutation.mix)"
            if let (count, failure) = hunt(
                [mutation.rule], seeds: 0..<mutation.budget, seconds: seconds, mix: mutation.mix)
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
