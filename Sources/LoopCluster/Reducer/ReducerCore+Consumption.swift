import LoopCore
public import LoopWire

/// Entries, consumed strictly in sequence: dedup, fence, reduce, one after the other. (Protocol, sections 2 and 4.)
extension ReducerCore {
    public mutating func receive(_ batch: Batch) {
        guard loss == nil else { return }
        if mustWait { putOff(batch, from: 0) } else { consume(batch) }
    }

    mutating func consume(_ batch: Batch) {
        guard batch.history == core.history || breaks(.batchesNameTheirHistory) else { return count(.foreignHistory) }
        guard let watermark = core.sessions[batch.session]?.watermark,
            let sender = members.index(forKey: batch.session)
        else { return count(.unknownSession) }
        guard members.values[sender].hasJoined || breaks(.claimComesBeforeBatches) else { return count(.beforeClaim) }
        members.values[sender].hasApplied(batch.applied)
        members.values[sender].settled = max(members.values[sender].settled, batch.settled)
        core.forgetOutcomes(of: batch.session, upTo: batch.settled)

        let early =
            breaks(.fenceIsAskedPerEntry)
            ? batch.entries.indices.map { judge(batch.entries.head(at: $0), of: batch.session) } : []
        var consumed = watermark
        var near = NearPlaces()
        for offset in 0..<batch.entries.count {
            if offset % NearPlaces.count == 0 { anticipate(batch.entries, from: offset, &near) }
            let head = batch.entries.head(at: batch.entries.startIndex + offset)
            let number = batch.first + UInt64(offset)
            if number <= consumed && !breaks(.duplicatesAreDropped) {
                count(.duplicateEntry)
                continue
            }
            if number > consumed + 1 && !breaks(.gapsEndTheBatch) {
                count(.gapInStream)
                askToResend(batch.session)
                break
            }
            let judgement = early.isEmpty ? judge(head, of: batch.session, near: near[offset]) : early[offset]
            let payload = batch.entries.payload(of: head)
            if !poison.isWatching {
                consume(head, payload, number, of: batch.session, judgement)
            } else if !consumeWatched(head, payload, number, of: batch.session, judgement) {
                putOff(batch, from: offset)
                break
            }
            consumed = number
            if poison.isAlone {
                putOff(batch, from: offset + 1)
                break
            }
        }
        if completedCount > 0, let sender = members.index(forKey: batch.session) {
            members.values[sender].completedCount += completedCount
        }
        completedCount = 0
        // A duplicate is acknowledged again too: its sender has not heard of the first time.
        if toAcknowledge.last != batch.session { toAcknowledge.append(batch.session) }
    }

    /// Consumes an entry, unless it is a suspect that must wait for a turn of its own.
    private mutating func consumeWatched(
        _ head: EntryHead, _ payload: ArraySlice<UInt8>, _ number: UInt64, of session: SessionID, _ judgement: Judgement
    ) -> Bool {
        let entry = Entry(head, payload)
        let suspicion =
            judgement.refusal == nil && entry.kind == .event ? suspicion(of: entry, number, of: session) : .none
        if case .alone = suspicion {
            guard records.isEmpty else { return false }
            count(.reducedAlone)
            poison.isAlone = true
        }
        if let suspect = suspect(entry, number, of: session) { poison.survivors.append(suspect) }
        switch suspicion {
        case .none, .alone: consume(head, payload, number, of: session, judgement)
        case .poison(let suspect): setAside(entry, number, of: session, at: judgement.place, suspect)
        case .known: refuse(head, number, of: session, .quarantined, at: judgement.place)
        }
        return true
    }

    /// Whether an entry may be applied.
    private struct Judgement {
        /// Why it may not; nil: it may.
        var refusal: SendRefusal.Reason?
        /// The place of its effect among the live ones; nil: it belongs to none, or to one that is not live.
        var place: Int?
    }

    /// Judges an entry against everything applied before it.
    /// - Parameter near: where its effect was found before; nil: it was not looked for.
    private func judge(_ entry: EntryHead, of session: SessionID, near: Int? = nil) -> Judgement {
        guard entry.hasEffect else { return Judgement(refusal: outcome == nil ? nil : .ended) }
        guard let place = core.effects.index(forKey: entry.effect, near: near), core.effects[at: place].isOpen,
            outcome == nil
        else {
            return Judgement(refusal: .stale)
        }
        if breaks(.entriesAreFenced) { return Judgement(place: place) }
        guard let owner = owners[place], owner.attempt == entry.attempt, owner.session == session else {
            return Judgement(refusal: .attempt, place: place)
        }
        return Judgement(place: place)
    }

    private mutating func consume(
        _ entry: EntryHead, _ payload: ArraySlice<UInt8>, _ number: UInt64, of session: SessionID,
        _ judgement: Judgement
    ) {
        if judgement.refusal == .stale && entry.kind != .event, let effect = entry.effectIfAny {
            return skip(effect, entry.attempt, number, of: session)
        }
        if let refusal = judgement.refusal { return refuse(entry, number, of: session, refusal) }
        switch entry.kind {
        case .event:
            apply(entry, payload, number, of: session, at: judgement.place)
        case .completed:
            guard let effect = entry.effectIfAny else { return }
            write(.completed(session, number: number, effect, entry.attempt))
            if let place = judgement.place { hasCompleted(place) }
        case .failed:
            let failure =
                (try? Failure(bytes: payload)) ?? Failure(message: "an unreadable failure report")
            fail(entry, EntryNumber(session: session, number: number), failure)
        case .released:
            guard let effect = entry.effectIfAny else { return }
            end(
                effect, .released, retryIn: .zero, message: "", failed: false,
                entry: EntryNumber(session: session, number: number))
        }
    }

    /// - Parameter place: of the entry's effect, where that is live and the entry is refused for its own sake.
    private mutating func refuse(
        _ entry: EntryHead, _ number: UInt64, of session: SessionID, _ reason: SendRefusal.Reason,
        at place: Int? = nil
    ) {
        switch reason {
        case .stale: count(.refusedStale)
        case .attempt: count(.refusedAttempt)
        case .undecodable: count(.refusedUndecodable)
        case .ended: count(.refusedEnded)
        case .quarantined: count(.refusedQuarantined)
        default: count(.refusedOther)
        }
        let voids = reason == .attempt && mayVoid(entry) && !breaks(.refusalVoidsTheAttempt)
        if breaks(.refusalsAreDurable) {
            core.consumeWithoutRecord(session, number, .refused(reason))
            return
        }
        write(
            .refused(
                RefusalRecord(
                    session: session, number: number, reason: reason, effect: entry.effectIfAny,
                    attempt: voids ? entry.attempt : .none, isLast: entry.isLast && place != nil)))
        if entry.isLast, let place { hasCompleted(place) }
    }

    /// Whether a refusal voids an entry's attempt: only one that this reducer can have granted, and none from the one on that
    /// holds the effect, for voids reach down to all earlier attempts.
    private func mayVoid(_ entry: EntryHead) -> Bool {
        guard entry.attempt <= Attempt(epoch: core.epoch.number, count: grantsCount) else { return false }
        let place = entry.effectIfAny.flatMap { core.effects.index(forKey: $0) }
        guard let holder = place.flatMap({ owners[$0] })?.attempt else { return true }
        return breaks(.refusalsSpareTheOwner) ? entry.attempt != holder : entry.attempt < holder
    }

    /// - Parameter place: of the event's effect.
    private mutating func apply(
        _ event: EntryHead, _ payload: consuming ArraySlice<UInt8>, _ number: UInt64, of session: SessionID,
        at place: Int?
    ) {
        applyEvent(event, payload, number, of: session, at: place)
        // The end takes effect before the next event, also before one of the same batch.
        if !breaks(.endsTakeEffectAtOnce) { noticeOutcome() }
    }

    /// - Parameter place: of the entry's effect.
    private mutating func applyEvent(
        _ entry: EntryHead, _ payload: consuming ArraySlice<UInt8>, _ number: UInt64, of session: SessionID,
        at place: Int?
    ) {
        if payload.count > configuration.eventBytesMax {
            return refuse(entry, number, of: session, .tooLarge, at: place)
        }
        core.note?.enter(session, number, entry.effectIfAny, payload)
        defer { core.note?.leave() }
        if let older = olderSchema(of: session) {
            guard let migrated = try? core.fold.migrate(payload, from: older) else {
                return refuse(entry, number, of: session, .undecodable, at: place)
            }
            payload = migrated[...]
        }
        let record = EventRecord(
            seq: core.seq.next, time: breaks(.timeNeverGoesBack) ? now.wall : max(core.time, now.wall),
            session: session, number: number,
            effect: entry.effectIfAny, attempt: entry.attempt, wantsSeq: entry.wantsSeq, isLast: entry.isLast,
            bytes: payload)
        guard apply(record, at: place) else { return refuse(entry, number, of: session, .undecodable, at: place) }
        guard let place else { return }
        if !core.effects.has(entry.effect, at: place) {
            // An effect whose own event ended it is done: its completion comes too late, if it comes.
            completedCount += 1
        } else if entry.isLast {
            hasCompleted(place)
        }
    }

    /// The end of an attempt whose effect is live no more. A cancellation that waits to be sent is not needed where the
    /// attempt has ended by itself.
    private mutating func skip(_ effect: EffectID, _ attempt: Attempt, _ number: UInt64, of session: SessionID) {
        if let index = members.index(forKey: session) { members.values[index].dropCancel(effect, attempt) }
        write(.skipped(session, number: number))
    }

    /// - Parameter place: of the event's effect; nil: it has none.
    /// - Returns: whether the record's bytes are an event; if not, nothing has changed.
    mutating func apply(_ record: EventRecord, at place: Int? = nil) -> Bool {
        guard let changes = core.take(record, near: place) else { return false }
        records.append(record)
        for index in changes.indices { follow(changes[index], ended: record.isLast ? record.attempt : .none) }
        if !changes.isEmpty { core.keepSpace(of: changes) }
        if updates.keepsNotes { note(record) }
        return true
    }

    /// The body of the effect at a place has returned, and the record that says so is written.
    mutating func hasCompleted(_ place: Int) {
        completedCount += 1
        letGo(place)
        scheduler.remove(at: place)
    }

    private mutating func fail(_ entry: EntryHead, _ number: EntryNumber, _ failure: Failure) {
        guard let effect = entry.effectIfAny, let live = core.effects[effect] else { return }
        count(.effectFailed)
        let retry = policy(of: effect).retry
        var delay = retry.delay(afterFailures: Int(live.failures) + 1, random: &random)
        if failure.isFinal { delay = nil }
        if let asked = failure.retryAfter, let own = delay { delay = max(own, asked) }
        end(effect, .failed, retryIn: delay, message: failure.message, failed: true, entry: number)
    }

    /// What a transition changed among the live effects becomes work, or ends it.
    /// - Parameter ended: the attempt that has ended with the transition's event; nobody needs to cancel it.
    private mutating func follow(_ change: LiveChange, ended: Attempt) {
        let effect = change.effect
        if change.kind == .cancelled, !unclaimed.isEmpty { unclaimed.remove(effect) }
        guard let place = change.place else { return }
        switch change.kind {
        case .started: schedule(effect, at: place)
        case .updated:
            guard core.effects.has(effect, at: place) else { return }
            guard let owner = owners[place] else {
                // It waits already, unless what it asked for could not be sent before.
                if !unclaimed.contains(effect) { schedule(effect, at: place) }
                return
            }
            let (version, request) = (core.effects[at: place].version, core.effects[at: place].request)
            command(.update(effect, owner.attempt, version: version, request: request), to: owner.session)
        case .cancelled:
            scheduler.remove(at: place)
            guard let owner = letGo(place), owner.attempt != ended else { return }
            command(.cancel(effect, owner.attempt), to: owner.session)
        }
    }

    /// The sender is asked once in a while; many batches behind one gap are one gap.
    private mutating func askToResend(_ session: SessionID) {
        guard let member = members[session] else { return }
        if let asked = member.resendAskedAt, now.monotonic - asked < .milliseconds(20) { return }
        members[session]?.resendAskedAt = now.monotonic
        send(tick(for: session, resend: true), to: session)
    }
}
