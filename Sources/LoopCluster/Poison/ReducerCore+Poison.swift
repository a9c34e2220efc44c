import LoopCore
import LoopWire

/// Events that end the process: suspects are reduced alone, and set aside at the second time. (Protocol, section 7.)
///
///     crash ──▶ suspect ── comes again ──▶ alone in its turn ── durable ──▶ struck from the note
///                                                │
///                                              crash ──▶ suspect, twice ── comes again ──▶ quarantined
extension ReducerCore {
    /// Whether something waits for a turn of its own.
    var hasDeferred: Bool { !poison.deferred.isEmpty || !poison.retries.isEmpty }

    /// Takes up what an earlier turn put off, as far as it fits into one turn. Comes first in its turn.
    mutating func takeDeferred() {
        guard hasDeferred, loss == nil else { return }
        if retryFirst() { return }
        for batch in poison.deferred.takeAll() {
            if mustWait { putOff(batch, from: 0) } else { consume(batch) }
        }
    }

    /// Suspects whose turn is durable are suspects no longer.
    mutating func strike(_ survivors: [Suspect]) {
        guard !survivors.isEmpty, !breaks(.survivorsAreStruck) else { return }
        for survivor in survivors {
            core.note?.strike(survivor)
            poison.suspects.removeAll { $0.isSame(as: survivor) }
        }
    }

    /// Suspects that were consumed before the journal's end, or that nobody can send again, are none; once the records that say
    /// so are durable.
    mutating func reviewSuspects() {
        for suspect in poison.suspects where !suspect.isRetry {
            let isSettled = core.sessions[suspect.session].map { suspect.number <= $0.watermark } ?? true
            let isLive = suspect.effect.map { core.effects[$0] != nil } ?? false
            if isSettled && !isLive { poison.survivors.append(suspect) }
        }
        watchQuarantine()
    }

    mutating func watchQuarantine() { poison.effects = Set(core.quarantine.values.compactMap(\.effect)) }

    /// Whether this turn takes no more entries.
    var mustWait: Bool { poison.isAlone || !poison.deferred.isEmpty }

    /// The rest of a batch waits for another turn, and everything behind it, so that the order of its session stays.
    mutating func putOff(_ batch: Batch, from offset: Int) {
        let offset = breaks(.deferredBatchesAreWhole) && offset > 0 ? offset + 1 : offset
        guard offset < batch.entries.count else { return }
        var rest = batch
        rest.first += UInt64(offset)
        rest.entries.removeFirst(offset)
        // Without room it is as if it had been lost on its way: it comes again.
        let limit = breaks(.deferredBatchesAreBounded) ? .max : configuration.deferredBatchesMax
        if !poison.deferred.append(rest, atMost: limit) { count(.deferredDropped) }
    }

    /// What is to be done with an event that may be applied.
    enum Suspicion: Equatable {
        case none
        /// The process ended in it once: it is reduced alone.
        case alone(Suspect)
        /// It has ended the process too often: it is set aside.
        case poison(Suspect)
        /// The same bytes of the same effect are set aside already.
        case known
    }

    func suspicion(of entry: Entry, _ number: UInt64, of session: SessionID) -> Suspicion {
        if let suspect = suspect(entry, number, of: session) {
            if breaks(.suspectsAreTriedAgain) { return .poison(suspect) }
            let isPoison = suspect.crashes >= Suspect.crashesMax && !breaks(.poisonIsSetAside)
            return isPoison ? .poison(suspect) : .alone(suspect)
        }
        guard let effect = entry.effect, poison.effects.contains(effect),
            core.quarantine.values.contains(where: { $0.effect == effect && $0.bytes == entry.payload })
        else { return .none }
        return .known
    }

    func suspect(_ entry: Entry, _ number: UInt64, of session: SessionID) -> Suspect? {
        poison.suspects.first { $0.isSame(as: entry, number, of: session) }
    }

    /// - Parameter place: of the entry's effect.
    mutating func setAside(
        _ entry: Entry, _ number: UInt64, of session: SessionID, at place: Int?, _ suspect: Suspect
    ) {
        count(.quarantined)
        // The bytes are a part of a whole message, which is not kept for them.
        let record = QuarantineRecord(
            id: core.quarantinedCount + 1, time: max(core.time, now.wall), session: session, number: number,
            effect: entry.effect, attempt: entry.attempt, phase: suspect.phase, crashes: suspect.crashes,
            isLast: entry.isLast, bytes: Array(entry.payload)[...])
        write(.quarantined(record))
        if entry.isLast, let place, !breaks(.quarantinedEndsAreEnds) { hasCompleted(place) }
        watchQuarantine()
        let sender = entry.effect.map { "effect \($0), \(core.feedbackName(of: $0))" } ?? "no effect"
        poison.alarms.append(
            "event \(number) of session \(session) (\(sender)) ended this process \(suspect.crashes) times in"
                + " \(suspect.phase) and is set aside as quarantined event \(record.id);"
                + " look at it with: loopctl quarantine show \(record.id)")
    }
}
