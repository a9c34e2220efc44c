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

/// The actions of operators on events that were set aside.
extension ReducerMachine {
    /// Queues a quarantined event to be tried again in its own turn.
    mutating func requestRetry(_ retry: QuarantineRetry) {
        guard !poison.request(retry) else { return }
        answer(
            .refused("\(PoisonWatch.retriesMax) quarantined events wait to be tried again; ask later"), retry.number,
            retry.route)
    }

    /// Applies a quarantined event, alone in its turn.
    mutating func applyQuarantined(_ retry: QuarantineRetry) -> AdministrationAnswer {
        guard let record = journaled.quarantine[retry.id] else { return unknownQuarantine(retry.id) }
        guard !phase.hasEnded else { return .refused("the loop has ended") }
        if let effect = record.effect, journaled.effects[effect] == nil {
            return .refused(
                "the effect \(effect) that sent event \(retry.id) is no longer wanted, and its events with it;"
                    + " drop it: loopctl quarantine drop \(retry.id)")
        }
        if let suspect = poison.takeSuspect(retried: retry.id) {
            return .refused(
                "the last try of event \(retry.id) ended the process in \(suspect.phase); start a build that can take"
                    + " it, or ask once more to try it all the same")
        }
        journaled.note?.enter(.none, retry.id, record.effect, record.bytes)
        defer { journaled.note?.leave() }
        guard let bytes = journaled.presentEventSetAside(record.bytes) else {
            return .refused(
                "the bytes of event \(retry.id) are not an event of this build; drop it:"
                    + " loopctl quarantine drop \(retry.id)")
        }
        write(.operatorAction(OperatorAction(.retryQuarantined(retry.id), by: retry.who, at: context.now.wall)))
        poison.watch(journaled.quarantine)
        let applied = EventRecord(
            seq: journaled.seq.next, time: recordTime, session: .none, number: 0, effect: record.effect,
            attempt: record.attempt, wantsSeq: false, bytes: bytes)
        guard apply(applied) else { preconditionFailure("event \(retry.id) could be decoded, and then could not") }
        return .done("event \(retry.id) is applied as seq \(applied.seq)")
    }

    mutating func dropQuarantined(_ id: UInt64, by who: String) -> AdministrationAnswer {
        guard journaled.quarantine[id] != nil else { return unknownQuarantine(id) }
        write(.operatorAction(OperatorAction(.dropQuarantined(id), by: who, at: context.now.wall)))
        poison.watch(journaled.quarantine)
        return .done("quarantined event \(id) is dropped")
    }

    /// The newest thousand events that were set aside, without their bytes.
    func quarantineList() -> AdministrationAnswer {
        .quarantine(
            journaled.quarantine.keys.sorted().suffix(1000).compactMap {
                journaled.quarantine[$0]?.listed(bytes: false)
            })
    }

    func quarantined(_ id: UInt64) -> AdministrationAnswer {
        guard let record = journaled.quarantine[id] else { return unknownQuarantine(id) }
        return .quarantine([record.listed(bytes: true)])
    }

    private func unknownQuarantine(_ id: UInt64) -> AdministrationAnswer {
        .refused("there is no quarantined event \(id); see: loopctl quarantine list")
    }
}

extension QuarantineRecord {
    fileprivate func listed(bytes hasBytes: Bool) -> QuarantinedEvent {
        QuarantinedEvent(
            id: id, time: time.milliseconds, session: session.value, number: number, effect: effect?.description,
            phase: phase.description, crashes: Int(crashes), event: hasBytes ? Array(bytes) : [])
    }
}
