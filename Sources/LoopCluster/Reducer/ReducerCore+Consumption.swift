import LoopCore
import LoopWire

/// Entries, consumed strictly in sequence: dedup, fence, reduce, one after the other. (Protocol, sections 2 and 4.)
extension ReducerCore {
    mutating func receive(_ batch: Batch, at now: Moment) {
        self.now = Moment.max(self.now, now)
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
        core.forgetOutcomes(of: batch.session, upTo: batch.settled)

        let early =
            breaks(.fenceIsAskedPerEntry)
            ? batch.entries.indices.map { verdict(on: batch.entries.head(at: $0), of: batch.session) } : []
        var consumed = watermark
        for offset in 0..<batch.entries.count {
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
            let verdict = early.isEmpty ? verdict(on: head, of: batch.session) : early[offset]
            if poison.isWatching {
                guard consumeWatched(batch.entries.entry(head), number, of: batch.session, verdict) else {
                    putOff(batch, from: offset)
                    break
                }
            } else if verdict == .stale && head.kind != .event {
                skip(head.effect, head.attempt, number, of: batch.session)
            } else {
                consume(batch.entries.entry(head), number, of: batch.session, verdict)
            }
            consumed = number
            if poison.isAlone {
                putOff(batch, from: offset + 1)
                break
            }
        }
        // A duplicate is acknowledged again too: its sender has not heard of the first time.
        if toAcknowledge.last != batch.session { toAcknowledge.append(batch.session) }
    }

    /// Consumes an entry, unless it is a suspect that must wait for a turn of its own.
    private mutating func consumeWatched(
        _ entry: Entry, _ number: UInt64, of session: SessionID, _ verdict: SendRefusal.Reason?
    ) -> Bool {
        let suspicion = verdict == nil && entry.kind == .event ? suspicion(of: entry, number, of: session) : .none
        if case .alone = suspicion {
            guard records.isEmpty else { return false }
            count(.reducedAlone)
            poison.isAlone = true
        }
        if let suspect = suspect(entry, number, of: session) { poison.survivors.append(suspect) }
        switch suspicion {
        case .none, .alone: consume(entry, number, of: session, verdict)
        case .poison(let suspect): setAside(entry, number, of: session, suspect)
        case .known: refuse(entry, number, of: session, .quarantined)
        }
        return true
    }

    /// Why an entry may not be applied, judged against everything applied before it; nil: it may.
    private func verdict(on entry: EntryHead, of session: SessionID) -> SendRefusal.Reason? {
        guard entry.hasEffect else { return outcome == nil ? nil : .ended }
        let effect = entry.effect
        guard let live = core.effects.index(forKey: effect), core.effects[at: live].isOpen, outcome == nil else {
            return .stale
        }
        if breaks(.entriesAreFenced) { return nil }
        guard let owner = owners.index(forKey: effect), owners[at: owner].attempt == entry.attempt,
            owners[at: owner].session == session
        else { return .attempt }
        return nil
    }

    private mutating func consume(
        _ entry: Entry, _ number: UInt64, of session: SessionID, _ verdict: SendRefusal.Reason?
    ) {
        if verdict == .stale && entry.kind != .event, let effect = entry.effect {
            return skip(effect, entry.attempt, number, of: session)
        }
        if let verdict { return refuse(entry, number, of: session, verdict) }
        switch entry.kind {
        case .event:
            applyEvent(entry, number, of: session)
            // The end takes effect before the next event, also before one of the same batch.
            noticeOutcome()
        case .completed:
            countCompleted(by: session)
            complete(entry, number, of: session)
        case .failed:
            let failure =
                (try? Failure(bytes: entry.payload)) ?? Failure(message: "an unreadable failure report")
            fail(entry, EntryNumber(session: session, number: number), failure)
        case .released:
            guard let effect = entry.effect else { return }
            end(
                effect, .released, retryIn: .zero, message: "", failed: false,
                entry: EntryNumber(session: session, number: number))
        }
    }

    private mutating func refuse(
        _ entry: Entry, _ number: UInt64, of session: SessionID, _ reason: SendRefusal.Reason
    ) {
        switch reason {
        case .stale: count(.refusedStale)
        case .attempt: count(.refusedAttempt)
        case .undecodable: count(.refusedUndecodable)
        case .ended: count(.refusedEnded)
        case .quarantined: count(.refusedQuarantined)
        default: count(.refusedOther)
        }
        // Only an attempt that this reducer can have granted is voided, and none that another session holds.
        let wasGranted = entry.attempt <= Attempt(epoch: core.epoch.number, count: grantsCount)
        let isHeld = entry.effect.flatMap { owners[$0] }?.attempt == entry.attempt
        let voids = reason == .attempt && wasGranted && !isHeld && !breaks(.refusalVoidsTheAttempt)
        if breaks(.refusalsAreDurable) {
            core.consumeWithoutRecord(session, number, .refused(reason))
            return
        }
        write(
            .refused(
                RefusalRecord(
                    session: session, number: number, reason: reason, effect: entry.effect,
                    attempt: voids ? entry.attempt : .none)))
    }

    private mutating func applyEvent(_ entry: Entry, _ number: UInt64, of session: SessionID) {
        if entry.payload.count > configuration.eventBytesMax { return refuse(entry, number, of: session, .tooLarge) }
        core.note?.enter(session, number, entry.effect, entry.payload)
        defer { core.note?.leave() }
        guard let bytes = presentEvent(entry.payload, from: session) else {
            return refuse(entry, number, of: session, .undecodable)
        }
        let record = EventRecord(
            seq: core.seq.next, time: max(core.time, now.wall), session: session, number: number,
            effect: entry.effect, attempt: entry.attempt, wantsSeq: entry.wantsSeq, bytes: bytes)
        guard apply(record) else { return refuse(entry, number, of: session, .undecodable) }
        // An effect whose own event ended it is done: its completion comes too late, if it comes.
        if let effect = entry.effect, !core.effects.contains(effect) { countCompleted(by: session) }
    }

    /// The end of an attempt whose effect is live no more. A cancellation that waits to be sent is not needed where the
    /// attempt has ended by itself.
    private mutating func skip(_ effect: EffectID, _ attempt: Attempt, _ number: UInt64, of session: SessionID) {
        if let index = members.index(forKey: session) { members.values[index].dropCancel(effect, attempt) }
        write(.skipped(session, number: number))
    }

    private mutating func countCompleted(by session: SessionID) {
        if let index = members.index(forKey: session) { members.values[index].completedCount += 1 }
    }

    /// - Returns: whether the record's bytes are an event; if not, nothing has changed.
    mutating func apply(_ record: EventRecord) -> Bool {
        guard let changes = core.take(record) else { return false }
        records.append(record)
        for change in changes { follow(change) }
        if updates.keepsNotes { note(record) }
        return true
    }

    private mutating func complete(_ entry: Entry, _ number: UInt64, of session: SessionID) {
        guard let effect = entry.effect else { return }
        write(.completed(session, number: number, effect, entry.attempt))
        letGo(effect)
        scheduler.remove(effect)
    }

    private mutating func fail(_ entry: Entry, _ number: EntryNumber, _ failure: Failure) {
        guard let effect = entry.effect, let live = core.effects[effect] else { return }
        count(.effectFailed)
        let retry = policy(of: effect).retry
        var delay = retry.delay(afterFailures: Int(live.failures) + 1, random: &random)
        if failure.isFinal { delay = nil }
        if let asked = failure.retryAfter, let own = delay { delay = max(own, asked) }
        end(effect, .failed, retryIn: delay, message: failure.message, failed: true, entry: number)
    }

    /// What a transition changed among the live effects becomes work, or ends it.
    private mutating func follow(_ change: LiveChange) {
        switch change {
        case .started(let effect): schedule(effect)
        case .updated(let effect):
            guard let owner = owners[effect], let live = core.effects[effect] else { return }
            command(
                .update(effect, owner.attempt, version: live.version, request: live.request), to: owner.session)
        case .cancelled(let effect):
            if !unclaimed.isEmpty { unclaimed.remove(effect) }
            scheduler.remove(effect)
            guard let owner = letGo(effect) else { return }
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
