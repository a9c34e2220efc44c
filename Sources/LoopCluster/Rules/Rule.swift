/// The rules of the protocol that a checker can miss only if it checks nothing: each stands where a machine keeps it,
/// and the simulator breaks one at a time to see that it is noticed.
///
/// Numbers in the comments are sections of `docs/spec/1-PROTOCOL.md`.
package enum Rule: UInt8, CaseIterable, Sendable {
    /// 2: an entry at or below the watermark is a duplicate.
    case duplicatesAreDropped
    /// 2: an entry beyond watermark + 1 ends the reading of its batch.
    case gapsEndTheBatch
    /// 2: refusals are records.
    case refusalsAreDurable
    /// 2: a refusal that no body hears of is a failure of its attempt.
    case refusalsAreHeard
    /// 2: an acknowledgement settles only from a base the sender has reached.
    case acknowledgementsHaveABase
    /// 3: nothing leaves before its receipt.
    case nothingLeavesEarly
    /// 4: an entry of an effect is accepted only under its grant.
    case entriesAreFenced
    /// 4: the fence is asked entry by entry.
    case fenceIsAskedPerEntry
    /// 4: the end of an attempt is a record.
    case voidsAreDurable
    /// 4: a refusal for its attempt voids the attempt.
    case refusalVoidsTheAttempt
    /// 4: what an attempt commits ends those before it, also where the record that took them away is lost.
    case commitsEndEarlierAttempts
    /// 4: the attempts of earlier epochs are not a new effect's, also where it has the number of one that is lost.
    case newEffectsHaveAFloor
    /// 1: an attempt is never repeated, also after a restart.
    case attemptsAreUnique
    /// 1: a frame of another session is dropped.
    case framesNameTheirSession
    /// 1: a batch of another history is dropped.
    case batchesNameTheirHistory
    /// 5: a frame of an older epoch is dropped.
    case olderEpochsAreDropped
    /// 5: nothing of a session counts before its claim.
    case claimComesBeforeBatches
    /// 5: a claim names finished attempts whose entries are still in the outbox.
    case claimsIncludeTheOutbox
    /// 5: a session joins once all parts of its claim have come.
    case claimsNeedAllParts
    /// 5: claims, acknowledgements and outcomes are sent in parts that each fit into a message.
    case messagesComeInParts
    /// 5: where there are as many sessions as there may be, the one that was idle the longest is given up.
    case idleSessionsAreEvicted
    /// 5: a session that spoke for effects alone makes room even if its peer has not heard of the outcomes.
    case effectSessionsAreEvicted
    /// 5: after a gap in the inbox nothing is applied until the whole assignment.
    case inboxGapsAreRepaired
    /// 5: an assignment older than the worker's inbox is not applied.
    case assignmentsAreNotOlder
    /// 5: an assignment taken before entries the worker knows as settled is not applied.
    case assignmentsKnowTheWatermark
    /// 5: a finished attempt is remembered until it is settled.
    case finishedAttemptsAreRemembered
    /// 6: a lease runs from the echoed tick.
    case leasesRunFromTheEcho
    /// 6: a worker without ticks asks to join again with a new subscription.
    case silenceIsNoticed
    /// 6: a peer that the reducer does not hear gets no ticks.
    case unheardAreNotTicked
    /// 6: a peer whose greeting has no answer opens a new connection.
    case deadConnectionsAreReplaced
    /// 6: the end of a loop is judged after each event: nothing behind it is applied.
    case endsTakeEffectAtOnce
    /// 6: the end is announced again with each tick.
    case endsAreRepeated
    /// 6: an observer hands out the end behind the last state.
    case endsFollowTheLastState
    /// 3: after a failed append nothing that depended on it leaves, and the machine is thrown away.
    case failedJournalsAreLeft
    /// 7: a recovery replays the records behind the snapshot.
    case recordsFollowTheSnapshot
    /// 7: a snapshot holds the sessions and how far they are consumed.
    case snapshotsHoldSessions
    /// 7: a snapshot holds which attempts are void.
    case snapshotsHoldFloors
    /// 7: a snapshot holds how each effect stands: open, completed, parked.
    case snapshotsHoldStatus
    /// 1: a session's number is not given again, also after a recovery.
    case sessionNumbersGrow
    /// 7: records that give out an epoch's or a session's number are synced, whatever the journal promises of others.
    case numbersOutlivePower
    /// 1: an epoch has a random part.
    case epochsHaveANonce
    /// 7: a peer that knows more than the journal shows that records are missing.
    case lostHistoryIsNoticed
    /// 7: a journal belongs to one process at a time.
    case journalsHaveOneOwner
    /// 2: an outbox takes no more than its limit.
    case outboxesAreBounded
    /// 4: no more inbox messages are under way to a peer than its window.
    case inboxesAreBounded
    /// 8: an event in which the process ended once is tried again, alone.
    case suspectsAreTriedAgain
    /// 8: an event in which the process ended twice is set aside.
    case poisonIsSetAside
    /// 5: parts of a state from two epochs are not put together.
    case transfersEndWithTheirEpoch
    /// 1: a history that an observer has left is not followed again for a late frame.
    case leftHistoriesStayLeft
    /// 5: the server heartbeat shows that an update was lost.
    case ticksShowGaps
    /// 8: a delta makes a state only of the one that it is to.
    case deltasApplyToTheirBase
    /// 8: in a new epoch an observer begins again with a state.
    case epochsBeginWithAState
    /// 8: who makes a state of the one before compares it with the reducer's hash.
    case hashesAreCompared
    /// 2: a watermark above what a peer has sent shows that somebody else uses its session: the peer leaves it.
    case foreignUseIsNoticed
    /// 2: an entry that may have been applied is not refused as behind the end.
    case unheardIsNotRefused
    /// 2: an entry that a busy reducer has not read yet is not sent again.
    case slownessIsNotLoss
    /// 4: a refusal never voids the attempt that holds the effect, whatever attempt the entry named.
    case refusalsSpareTheOwner
    /// 2: a batch that waits for a turn of its own waits with all its entries.
    case deferredBatchesAreWhole
    /// 2: outcomes that their sender knows are forgotten.
    case settledOutcomesAreForgotten
    /// 3: the journaled time of an event is never before that of an earlier one.
    case timeNeverGoesBack
    /// 4: how often an effect has failed is counted.
    case failuresAreCounted
    /// 4: a failed effect is not tried again before its delay is over.
    case retriesWait
    /// 4: the worker of an attempt that took too long is told to stop.
    case timedOutWorkersAreTold
    /// 5: an assignment that holds what waited to be sent takes a number, so that a tick shows its loss.
    case assignmentsTakeANumber
    /// 5: a request replaces older ones only.
    case updatesAreNewer
    /// 5: the commands that wait for a peer have a limit; beyond it the whole assignment goes out.
    case commandsAreBounded
    /// 7: the attempts of an earlier history are void.
    case newHistoriesVoid
    /// 7: a snapshot counts only once the records that it stands for are safe.
    case snapshotsFollowTheirRecords
    /// 7: a last event that is set aside has ended its effect.
    case quarantinedEndsAreEnds
    /// 7: an event that the process survived is no suspect any more.
    case survivorsAreStruck
    /// 7: batches that wait for a turn of their own have a limit.
    case deferredBatchesAreBounded
    /// 5: sessions have a limit.
    case sessionsAreBounded
    /// 8: encoded states that are kept for those who fetch them have a limit.
    case transfersAreBounded
    /// 5: no process goes on in a session to which an earlier one has said goodbye.
    case sessionsEndWithTheGoodbye
    /// 12: a key does only what one of its roles allows.
    case rolesAreChecked
    /// 12: a worker serves only the groups of its key.
    case groupsAreChecked
    /// 12: only the key of a session speaks for it.
    case sessionsHaveOwners
    /// 12: only the key of a session sends its batches.
    case batchesAreOfTheirOwners
    /// 12: an inbox is for the key of its peer.
    case inboxesAreOfTheirOwners
    /// 12: only the key of a session reports that records of it are missing.
    case lossIsReportedByOwners
    /// 12: a key that is not admitted any more loses its sessions.
    case revokedKeysLoseTheirSessions
    /// 5: a claim gives a peer only what it could be granted.
    case claimsAreOfServedGroups
    /// 6: a timer does not fire before the time that the state asks for.
    case timersAreNotEarly
    /// 6: a timer that was cancelled leaves its time to no other.
    case movedTimersForgetTheirTime
    /// 6: timers fire in the order of their times.
    case timersFireInOrder
    /// 7: a timer has fired once its record is there: it is not set again.
    case firedTimersAreCompleted
    /// 7: after a recovery timers are set as the state asks for them.
    case timersAreSetAgain
    /// 6: no timer fires after the end.
    case timersEndWithTheLoop
    /// 6: a schedule that has run waits for its next time.
    case schedulesMoveOn
    /// 7: a schedule goes on after a recovery where it stood.
    case schedulesAreKept
    /// 2: an answer is of the state right after its event.
    case answersFollowTheirEvent
    /// 7: a snapshot has the answers that senders have not confirmed.
    case snapshotsHoldAnswers
    /// 3: with several turns under way, each waits for its own receipt.
    case receiptsAreOfOneTurn
    /// 3: a turn without records waits for those before it.
    case emptyTurnsWait
    /// Journal in a database, 4: a batch is appended only behind the very batch that is expected there.
    case appendsCompareTheChain
    /// Journal in a database, 4: a batch is appended only in the term of its process.
    case appendsCompareTheTerm
    /// Journal in a database, 4: what is unknown is no receipt.
    case unknownIsNotSuccess
    /// Journal in a database, 4: what is unknown is not appended once more.
    case unknownIsNotRepeated
    /// Journal in a database, 4: a process that has lost its connection takes nothing that it sees for a receipt.
    case lostConnectionsEndTheTerm
    /// Journal in a database, 3: everything is read behind the commit of the term, and the first records have their receipt before
    /// anything leaves.
    case tailIsReadInTheTerm
    /// 7: a leader proves that it leads before it says that records are missing.
    case lossIsProven
    /// Journal in a database, 3: a process calls the journal damaged only after another commit of its term.
    case verdictsAreProven
    /// A standby goes on from what it has followed only if the journal has the batch where that ends.
    case warmStatesAreCompared
    /// Journal in a database, 4: a process that is told that the term is another's says nothing more.
    case deposedLeadersStop
    /// Journal in a database, 5: a standby leaves a free journal to those that have less to replay.
    case closestStandbysLead
    /// Journal in a database, 5: how far a standby is behind is judged by what the leader has, not by what its own server has.
    case lagIsTheLeaders
    /// Journal in a database, 5: what a server lacks is lost only if that server has all that the leader has.
    case lossIsTheLeaders
}

/// The rules that a machine under test breaks; empty in every node that runs.
package struct BrokenRules: Equatable, Sendable {
    /// One bit for each rule.
    private var bits: (low: UInt64, high: UInt64) = (0, 0)

    package init() {}

    package init(_ rules: [Rule]) {
        for rule in rules {
            if rule.rawValue < 64 {
                bits.low |= 1 << UInt64(rule.rawValue)
            } else {
                bits.high |= 1 << UInt64(rule.rawValue - 64)
            }
        }
    }

    package func contains(_ rule: Rule) -> Bool {
        let word = rule.rawValue < 64 ? bits.low : bits.high
        return word & (1 << UInt64(rule.rawValue & 63)) != 0
    }

    package static func == (a: BrokenRules, b: BrokenRules) -> Bool { a.bits == b.bits }
}
