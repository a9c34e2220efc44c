import LoopCore
package import LoopWire

/// The consumption of entries, strictly in sequence: dedup, fence, reduce. (Protocol, sections 2 and 4.)
extension ReducerMachine {
    /// Consumes the entries of a batch. Drops and counts a batch of another history, of an unknown session, or before the
    /// claim. The batch waits for a later turn while a suspect is reduced alone.
    /// - Parameters:
    ///   - batch: the entries.
    ///   - principal: the sender, as the connection proves it.
    package mutating func receive(_ batch: Batch, by principal: Principal) {
        guard !phase.isLost, !refuses(batch, by: principal) else { return }
        take(batch)
    }

    /// Takes a batch that its principal may send.
    mutating func take(_ batch: Batch) {
        if poison.mustWait { putOff(batch, from: 0) } else { consume(batch) }
    }

    mutating func consume(_ batch: Batch) {
        let session = batch.session
        guard batch.history == journaled.history || breaks(.batchesNameTheirHistory) else {
            return count(.foreignHistory)
        }
        guard let place = journaled.sessions.index(forKey: session),
            let sender = admission.members.index(forKey: session)
        else { return count(.unknownSession) }
        let watermark = journaled.sessions[at: place].watermark
        guard admission.hear(batch, at: sender, context) else { return count(.beforeClaim) }
        journaled.forgetOutcomes(of: session, upTo: batch.settled)

        let early =
            breaks(.fenceIsAskedPerEntry)
            ? batch.entries.indices.map { judge(batch.entries.head(at: $0), of: session) } : []
        var consumed = watermark
        entries: for offset in 0..<batch.entries.count {
            let head = batch.entries.head(at: batch.entries.startIndex + offset)
            let number = batch.first + UInt64(offset)
            if number <= consumed && !breaks(.duplicatesAreDropped) {
                count(.duplicateEntry)
                continue
            }
            if number > consumed + 1 && !breaks(.gapsEndTheBatch) {
                count(.gapInStream)
                askToResend(session)
                break entries
            }
            let judgement = early.isEmpty ? judge(head, of: session) : early[offset]
            let origin = EntryNumber(session: session, number: number)
            let trace = head.hasTrace ? batch.entries.trace(of: head) : nil
            guard consume(head, batch.entries.payload(of: head), trace, origin, judgement) else {
                putOff(batch, from: offset)
                break entries
            }
            consumed = number
            if poison.isAlone {
                putOff(batch, from: offset + 1)
                break entries
            }
        }
        turn.owesAcknowledgement(to: session)
    }

    /// The judgement whether an entry may be applied.
    private enum Judgement {
        /// It may be. The place is that of its effect among the live ones, or nil if it has no effect.
        case applies(at: Int?)
        case refused(SendRefusal.Reason)

        var applies: Bool { if case .applies = self { true } else { false } }

        var place: Int? { if case .applies(let place) = self { place } else { nil } }
    }

    /// Judges an entry against everything that was applied before it.
    private func judge(_ entry: EntryHead, of session: SessionID) -> Judgement {
        guard entry.hasEffect else { return phase.hasEnded ? .refused(.ended) : .applies(at: nil) }
        guard let place = journaled.effects.index(forKey: entry.effect), journaled.effects[at: place].isOpen,
            !phase.hasEnded
        else { return .refused(.stale) }
        let isFenced = !breaks(.entriesAreFenced)
        return isFenced && !dispatch.owns(session, entry.attempt, place) ? .refused(.attempt) : .applies(at: place)
    }

    /// Consumes an entry.
    /// - Returns: whether it was consumed. If not, nothing has changed, and it must wait for its own turn.
    private mutating func consume(
        _ entry: EntryHead, _ payload: ArraySlice<UInt8>, _ trace: TraceContext?, _ origin: EntryNumber,
        _ judgement: Judgement
    ) -> Bool {
        // `fail` examines a failure that applies.
        if poison.isWatching, entry.kind != .failed || !judgement.applies {
            let isApplied = judgement.applies && entry.kind == .event
            switch examine(Entry(entry, payload), origin, isApplied: isApplied) {
            case .consume, .consumeAlone: break
            case .wait: return false
            case .setAside(let suspect):
                setAside(Entry(entry, payload), origin, at: judgement.place, suspect)
                return true
            case .refuse: return refuse(entry, origin, .quarantined, at: judgement.place)
            }
        }
        switch (judgement, entry.kind) {
        case (.refused(.stale), .completed), (.refused(.stale), .failed), (.refused(.stale), .released):
            skip(entry, origin)
        case (.refused(let reason), _): return refuse(entry, origin, reason)
        case (.applies(let place), .event):
            guard apply(entry, payload, trace, origin, at: place) else { return false }
            // The end takes effect before the next event, even in the same batch.
            if !breaks(.endsTakeEffectAtOnce) { noticeOutcome() }
        case (.applies(let place), .completed):
            guard let effect = entry.effectIfAny else { break }
            write(.completed(origin.session, number: origin.number, effect, entry.attempt))
            remove(at: place, completedBy: origin.session)
        case (.applies(let place), .failed):
            guard let effect = entry.effectIfAny, let place else { break }
            let failure = (try? Failure(bytes: payload)) ?? Failure(message: "an unreadable failure report")
            let failures = journaled.effects[at: place].failures
            return fail(
                effect, at: place,
                dispatch.outcome(of: failure, failures: failures, policy(of: effect), entry: origin))
        case (.applies, .released):
            guard let effect = entry.effectIfAny else { break }
            end(effect, AttemptOutcome(.released, entry: origin))
        }
        return true
    }

    /// Refuses an entry. An event of a body that does not wait for its outcome counts as a failure of its attempt instead.
    /// Otherwise the effect would complete without the event.
    /// - Parameters:
    ///   - place: the place of the entry's effect, if it is live and the entry itself is the reason of the refusal.
    ///   - detail: what is wrong with the entry, in words.
    /// - Returns: false if nothing has changed and the entry must wait for its own turn.
    private mutating func refuse(
        _ entry: EntryHead, _ origin: EntryNumber, _ reason: SendRefusal.Reason, at place: Int? = nil,
        _ detail: String = ""
    ) -> Bool {
        let isFailure = place != nil && !entry.isHeard && !breaks(.refusalsAreHeard)
        if let place, isFailure {
            let failure = Failure(refused: SendRefusal(reason, detail: detail))
            let failures = journaled.effects[at: place].failures
            let outcome = dispatch.outcome(of: failure, failures: failures, policy(of: entry.effect), entry: origin)
            guard fail(entry.effect, at: place, outcome) else { return false }
            if !entry.isLast, !phase.hasEnded {
                admission.members.command(.cancel(entry.effect, entry.attempt), to: origin.session)
            }
        }
        switch reason {
        case .stale: count(.refusedStale)
        case .attempt: count(.refusedAttempt)
        case .undecodable: count(.refusedUndecodable)
        case .ended: count(.refusedEnded)
        case .quarantined: count(.refusedQuarantined)
        default: count(.refusedOther)
        }
        if isFailure { return true }
        let voids =
            reason == .attempt && !breaks(.refusalVoidsTheAttempt)
            && dispatch.mayVoid(entry.attempt, of: entry.effectIfAny, journaled, context.brokenRules)
        if breaks(.refusalsAreDurable) {
            journaled.consumeWithoutRecord(origin.session, origin.number, .refused(reason))
            return true
        }
        write(
            .refused(
                RefusalRecord(
                    session: origin.session, number: origin.number, reason: reason, effect: entry.effectIfAny,
                    attempt: voids ? entry.attempt : .none, detail: detail)))
        return true
    }

    /// Refuses an event that cannot be decoded, with what is wrong with it.
    /// - Parameter schema: the schema of the bytes, if it is an older one.
    /// - Returns: false if nothing has changed and the event must wait for its own turn.
    private mutating func refuseUndecodable(
        _ entry: EntryHead, _ payload: ArraySlice<UInt8>, from schema: UInt64?, _ origin: EntryNumber, at place: Int?
    ) -> Bool {
        let (limit, newsCount) = (explanations, turn.news.count)
        if refuse(entry, origin, .undecodable, at: place, whatIsWrong(with: payload, from: schema, origin)) {
            return true
        }
        // The turn that refuses it reports the reason.
        explanations = limit
        turn.news.removeLast(turn.news.count - newsCount)
        return false
    }

    /// Applies an event, unless it cannot be an event of this loop.
    /// - Parameter place: the place of the event's effect.
    /// - Returns: false if nothing has changed and the event must wait for its own turn.
    private mutating func apply(
        _ entry: EntryHead, _ payload: consuming ArraySlice<UInt8>, _ trace: TraceContext?, _ origin: EntryNumber,
        at place: Int?
    ) -> Bool {
        if payload.count > context.configuration.eventBytesMax { return refuse(entry, origin, .tooLarge, at: place) }
        if entry.wantsAnswer, journaled.keepsTooManyAnswers(of: origin.session) {
            return refuse(entry, origin, .overloaded, at: place)
        }
        journaled.note?.enter(origin.session, origin.number, entry.effectIfAny, payload)
        defer { journaled.note?.leave() }
        if let older = admission.olderSchema(of: origin.session, journaled.loop) {
            guard let migrated = try? journaled.loopState.migrate(payload, from: older) else {
                return refuseUndecodable(entry, payload, from: older, origin, at: place)
            }
            payload = migrated[...]
        }
        let record = EventRecord(
            seq: journaled.seq.next, time: context.eventTime(after: journaled.time), session: origin.session,
            number: origin.number,
            effect: entry.effectIfAny, attempt: entry.attempt, wantsSeq: entry.wantsSeq, isLast: entry.isLast,
            wantsAnswer: entry.wantsAnswer, trace: trace, bytes: payload)
        guard apply(record) else {
            return refuseUndecodable(entry, record.bytes, from: nil, origin, at: place)
        }
        if let place, entry.isLast || !journaled.effects.has(entry.effect, at: place) {
            noteCompletion(of: entry.effect, at: place, by: origin.session)
        }
        return true
    }

    /// Takes note that an effect is completed by its last event, or by an event that has ended its request. Its own end comes
    /// later, if at all.
    mutating func noteCompletion(of effect: EffectID, at place: Int, by session: SessionID) {
        if journaled.effects.has(effect, at: place) {
            remove(at: place, completedBy: session)
        } else {
            countCompleted(effect, by: session)
        }
    }

    /// - Returns: whether the record's bytes are an event. If not, nothing has changed.
    mutating func apply(_ record: EventRecord) -> Bool {
        let before = context.configuration.checksPurity ? journaled.loopState : nil
        let trace = journaled.trace(of: record)
        guard let changes = journaled.take(record) else { return false }
        turn.records.append(record)
        if let trace { turn.traced.append(TracedEvent(record, in: trace, of: journaled.history)) }
        for index in changes.indices { follow(changes[index], ended: record.isLast ? record.attempt : .none) }
        if !changes.isEmpty { journaled.keepSpace(of: changes) }
        if record.isOfTimer, let timer = record.effect { countCompleted(timer, by: .none) }
        updates.note(record)
        if let before { checkPurity(of: record, before) }
        return true
    }

    /// Skips the end of an attempt whose effect is no longer live. A waiting cancellation is dropped, because the attempt has
    /// ended by itself.
    private mutating func skip(_ entry: EntryHead, _ origin: EntryNumber) {
        if let effect = entry.effectIfAny, let index = admission.members.index(forKey: origin.session) {
            admission.members[at: index].inbox.dropCancel(effect, entry.attempt)
        }
        write(.skipped(origin.session, number: origin.number))
    }

    /// Takes note that the body of the effect at a place has returned. The record is already written.
    mutating func remove(at place: Int?, completedBy session: SessionID) {
        guard let place else { return }
        dispatch.remove(at: place, &admission.members)
        if let effect = journaled.effects.keyIfTaken(at: place) { countCompleted(effect, by: session) }
    }

    /// Counts an effect that has completed, by its end or by its own event.
    private mutating func countCompleted(_ effect: EffectID, by session: SessionID) {
        dispatch.countCompleted(effect)
        admission.members.countCompleted(by: session)
    }

    /// Starts, updates or cancels work after a transition has changed a live effect.
    /// - Parameter ended: the attempt that has ended with the transition's event. No worker needs to cancel it.
    private mutating func follow(_ change: LiveChange, ended: Attempt) {
        let effect = change.effect
        if timers.isTimer(effect) { return timers.follow(change, journaled, context.brokenRules) }
        if change.kind == .cancelled { phase.inGrace { $0.settle(effect) } }
        guard let place = change.place else { return }
        switch change.kind {
        case .started:
            if !dispatch.schedule(effect, at: place, journaled, context) { tellUnsendable(effect) }
        case .updated:
            guard journaled.effects.has(effect, at: place) else { return }
            if journaled.feedback(of: effect)?.hasPriority ?? false {
                dispatch.prioritize(effect, at: place, journaled)
            }
            guard let owner = dispatch.owner(at: place) else {
                // It waits already, unless its last request could not be sent.
                if !phase.isUnclaimed(effect) { dispatch.schedule(effect, at: place, journaled, context) }
                return
            }
            let (version, request) = (journaled.effects[at: place].version, journaled.effects[at: place].request)
            admission.members.command(
                .update(effect, owner.attempt, version: version, request: request), to: owner.session)
        case .cancelled:
            guard let owner = dispatch.remove(at: place, &admission.members), owner.attempt != ended else { return }
            admission.members.command(.cancel(effect, owner.attempt), to: owner.session)
        }
    }

    private mutating func askToResend(_ session: SessionID) {
        if admission.mayAskToResend(session, at: context.now.monotonic) { sendTick(to: session, resend: true) }
    }
}
