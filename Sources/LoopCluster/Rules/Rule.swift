/// The rules of the protocol that a checker can miss only if it checks nothing. The code that keeps a rule names it. The
/// simulator breaks one rule at a time to see that a checker notices.
///
/// Numbers in the comments are sections of `docs/spec/1-PROTOCOL.md`.
package enum Rule: UInt8, CaseIterable, Sendable {
    /// 2: an entry at or below the watermark is a duplicate.
    case duplicatesAreDropped
    /// 2: an entry beyond watermark + 1 ends the reading of its batch.
    case gapsEndTheBatch
    /// 2: refusals are records.
    case refusalsAreDurable
    /// 2: a refusal that its body does not wait for is a failure of its attempt.
    case refusalsAreHeard
    /// 2: an acknowledgement settles only from a base the sender has reached.
    case acknowledgementsHaveABase
    /// 3: nothing leaves before its receipt.
    case nothingLeavesEarly
    /// 4: an entry of an effect is accepted only under its grant.
    case entriesAreFenced
    /// 4: the fence checks each entry by itself.
    case fenceIsAskedPerEntry
    /// 4: the end of an attempt is a record.
    case voidsAreDurable
    /// 4: a refusal of an attempt voids the attempt.
    case refusalVoidsTheAttempt
    /// 4: what an attempt commits ends those before it, even if the record that took them away is lost.
    case commitsEndEarlierAttempts
    /// 4: attempts of earlier epochs do not belong to a new effect, even if it has the number of a lost one.
    case newEffectsHaveAFloor
    /// 1: an attempt is never repeated, even after a restart.
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
    /// 5: if all sessions are taken, the one that was idle the longest is given up.
    case idleSessionsAreEvicted
    /// 5: a session that sent entries only for effects can be given up even if its peer does not know the outcomes.
    case effectSessionsAreEvicted
    /// 5: after a gap in the inbox nothing is applied until the whole assignment.
    case inboxGapsAreRepaired
    /// 5: an assignment older than the worker's inbox is not applied.
    case assignmentsAreNotOlder
    /// 5: an assignment made before entries that the worker knows as settled is not applied.
    case assignmentsKnowTheWatermark
    /// 5: a finished attempt is remembered until it is settled.
    case finishedAttemptsAreRemembered
    /// 6: a lease runs from the echoed tick.
    case leasesRunFromTheEcho
    /// 6: a worker without ticks asks to join again with a new subscription.
    case silenceIsNoticed
    /// 6: a peer whose messages do not reach the reducer gets no ticks.
    case unheardAreNotTicked
    /// 6: a peer whose greeting has no answer opens a new connection.
    case deadConnectionsAreReplaced
    /// 6: the end of a loop is checked after each event; nothing after it is applied.
    case endsTakeEffectAtOnce
    /// 6: the end is announced again with each tick.
    case endsAreRepeated
    /// 6: an observer hands out the end after the last state.
    case endsFollowTheLastState
    /// 3: after a failed append nothing that depended on it leaves, and the machine is discarded.
    case failedJournalsAreLeft
    /// 7: a recovery replays the records after the snapshot.
    case recordsFollowTheSnapshot
    /// 7: a snapshot has the sessions and their watermarks.
    case snapshotsHoldSessions
    /// 7: a snapshot has the floors of attempts.
    case snapshotsHoldFloors
    /// 7: a snapshot has the status of each effect: open, completed, parked.
    case snapshotsHoldStatus
    /// 1: a session's number is not assigned again, even after a recovery.
    case sessionNumbersGrow
    /// 7: records that assign an epoch's or a session's number are synced, whatever the journal promises of others.
    case numbersOutlivePower
    /// 1: an epoch has a random part.
    case epochsHaveANonce
    /// 7: a peer that knows more than the journal shows that records are missing.
    case lostHistoryIsNoticed
    /// 7: a journal belongs to one process at a time.
    case journalsHaveOneOwner
    /// 2: an outbox takes no more than its limit.
    case outboxesAreBounded
    /// 5: no more inbox messages are under way to a peer than its window.
    case inboxesAreBounded
    /// 7: an event in which the process ended once is tried again, alone.
    case suspectsAreTriedAgain
    /// 7: an event in which the process ended twice is set aside.
    case poisonIsSetAside
    /// 8: parts of a state from two epochs are not mixed.
    case transfersEndWithTheirEpoch
    /// 8: a history that an observer has left is not followed again because of a late frame.
    case leftHistoriesStayLeft
    /// 8: the server heartbeat shows that an update was lost.
    case ticksShowGaps
    /// 8: a delta applies only to its base.
    case deltasApplyToTheirBase
    /// 8: in a new epoch an observer begins again with a state.
    case epochsBeginWithAState
    /// 8: an observer that makes a state from the one before compares it with the reducer's hash.
    case hashesAreCompared
    /// 2: a watermark above what a peer has sent shows that another process uses its session, and the peer leaves it.
    case foreignUseIsNoticed
    /// 2: an entry that may have been applied is not refused because the loop has ended.
    case unheardIsNotRefused
    /// 2: an entry that a busy reducer has not read yet is not sent again.
    case slownessIsNotLoss
    /// 4: a refusal never voids the attempt that owns the effect, whatever attempt the entry named.
    case refusalsSpareTheOwner
    /// 2: a batch that waits for its own turn waits with all its entries.
    case deferredBatchesAreWhole
    /// 2: outcomes that their sender knows are forgotten.
    case settledOutcomesAreForgotten
    /// 3: the journaled time of an event is never before that of an earlier one.
    case timeNeverGoesBack
    /// 4: how often an effect has failed is counted.
    case failuresAreCounted
    /// 4: a failed effect is not tried again before its delay is over.
    case retriesWait
    /// 4: the worker of an attempt that took too long is asked to stop it.
    case timedOutWorkersAreTold
    /// 5: an assignment that includes what waited to be sent takes a number, so that a tick shows its loss.
    case assignmentsTakeANumber
    /// 5: a request replaces older ones only.
    case updatesAreNewer
    /// 5: the commands that wait for a peer have a limit, beyond which the whole assignment is sent.
    case commandsAreBounded
    /// 7: the attempts of an earlier history are void.
    case newHistoriesVoid
    /// 7: a snapshot counts only once the records that it covers are safe.
    case snapshotsFollowTheirRecords
    /// 7: a last event that is set aside has ended its effect.
    case quarantinedEndsAreEnds
    /// 7: an event that the process survived is no longer a suspect.
    case survivorsAreStruck
    /// 7: batches that wait for their own turn have a limit.
    case deferredBatchesAreBounded
    /// 5: sessions have a limit.
    case sessionsAreBounded
    /// 8: encoded states that are kept for observers have a limit.
    case transfersAreBounded
    /// 5: no process continues a session to which an earlier one has said goodbye.
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
    /// 12: only the key of a session reports that its records are missing.
    case lossIsReportedByOwners
    /// 12: a key that is no longer admitted loses its sessions.
    case revokedKeysLoseTheirSessions
    /// 5: a claim gives a peer only what it could be granted.
    case claimsAreOfServedGroups
    /// 6: a timer does not fire before the time that the state asks for.
    case timersAreNotEarly
    /// 6: the time of a cancelled timer is not used for another one.
    case movedTimersForgetTheirTime
    /// 6: timers fire in the order of their times.
    case timersFireInOrder
    /// 7: a timer has fired once its record is in the journal, and is not set again.
    case firedTimersAreCompleted
    /// 7: after a recovery timers are set again from the state's requests.
    case timersAreSetAgain
    /// 6: no timer fires after the end.
    case timersEndWithTheLoop
    /// 6: a schedule that has run waits for its next time.
    case schedulesMoveOn
    /// 7: after a recovery a schedule continues with its next time.
    case schedulesAreKept
    /// 2: an answer is made from the state right after its event.
    case answersFollowTheirEvent
    /// 7: a snapshot has the answers that senders have not confirmed.
    case snapshotsHoldAnswers
    /// 3: with several turns under way, each waits for its own receipt.
    case receiptsAreOfOneTurn
    /// 3: a turn without records waits for those before it.
    case emptyTurnsWait
    /// Journal in a database, 4: a batch is appended only after the very batch that is expected there.
    case appendsCompareTheChain
    /// Journal in a database, 4: a batch is appended only in the term of its process.
    case appendsCompareTheTerm
    /// Journal in a database, 4: an unknown result is no receipt.
    case unknownIsNotSuccess
    /// Journal in a database, 4: an append with an unknown result is not repeated.
    case unknownIsNotRepeated
    /// Journal in a database, 4: a process that has lost its connection takes nothing that it reads as a receipt.
    case lostConnectionsEndTheTerm
    /// Journal in a database, 3: everything is read after the commit of the term, and the first records have their receipt
    /// before anything leaves.
    case tailIsReadInTheTerm
    /// 7: a leader proves that it leads before it reports missing records.
    case lossIsProven
    /// Journal in a database, 3: a process calls the journal damaged only after another commit of its term.
    case verdictsAreProven
    /// A standby continues from what it has followed only if the journal has the batch that ends there.
    case warmStatesAreCompared
    /// Journal in a database, 4: a process that learns that another one has the term sends nothing more.
    case deposedLeadersStop
    /// Journal in a database, 5: a standby leaves a free journal to those that have less to replay.
    case closestStandbysLead
    /// Journal in a database, 5: how far a standby is behind is measured by the leader's records, not by those of its own server.
    case lagIsTheLeaders
    /// Journal in a database, 5: records that a server lacks are lost only if that server has all records of the leader.
    case lossIsTheLeaders
}

/// The rules that a machine under test breaks; empty in every real node.
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
