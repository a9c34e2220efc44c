import LoopCore
import LoopWire

/// The actions that the poison watch has decided, against events that end the process. (Protocol, section 7.)
extension ReducerMachine {
    /// Continues what an earlier turn put off, as far as it fits into one turn. Called first in a turn.
    mutating func takeDeferred() {
        if timers.awaitsTurn { fireTimers() }
        if schedules.awaitsTurn { runSchedules() }
        if dispatch.timeoutAwaitsTurn { endTimedOutAttempts() }
        guard poison.hasDeferred, !phase.isLost else { return }
        switch poison.takeRetry(isFirst: turn.records.isEmpty) {
        case .none: for batch in poison.takeDeferred() { take(batch) }
        case .waits: return
        case .now(let retry): answer(applyQuarantined(retry), retry.number, retry.route)
        }
    }

    /// Judges an entry that is about to be consumed in this turn, and counts one that is consumed alone.
    /// - Parameter isApplied: whether it is an event that would be applied.
    mutating func examine(_ entry: Entry, _ origin: EntryNumber, isApplied: Bool) -> PoisonWatch.Verdict {
        guard poison.isWatching else { return .consume }
        let verdict = poison.examine(
            entry, origin, isApplied: isApplied, isFirst: turn.records.isEmpty, journaled.quarantine,
            context.brokenRules)
        if verdict == .consumeAlone { count(.reducedAlone) }
        return verdict
    }

    mutating func putOff(_ batch: Batch, from offset: Int) {
        if !poison.putOff(batch, from: offset, context) { count(.deferredDropped) }
    }

    /// - Parameter place: the place of the entry's effect.
    mutating func setAside(_ entry: Entry, _ origin: EntryNumber, at place: Int?, _ suspect: Suspect) {
        count(.quarantined)
        // The bytes are copied, so that the whole message is not kept for a part of it.
        let record = QuarantineRecord(
            id: journaled.quarantinedCount + 1, time: recordTime,
            session: origin.session, number: origin.number, effect: entry.effect, attempt: entry.attempt,
            phase: suspect.phase, crashes: suspect.crashes, isLast: entry.isLast, bytes: Array(entry.payload)[...])
        write(.quarantined(record))
        if entry.isLast, !breaks(.quarantinedEndsAreEnds) { remove(at: place, completedBy: origin.session) }
        poison.watch(journaled.quarantine)
        turn.news.append(.quarantined(record, feedback: entry.effect.map { journaled.feedbackName(of: $0) }))
    }
}
