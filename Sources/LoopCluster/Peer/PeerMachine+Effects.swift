public import LoopCore
public import LoopWire

/// What runs here: commands, assignments, sends and ends. (Protocol, sections 2 and 5.)
extension PeerMachine {
    // MARK: From the reducer

    mutating func apply(_ number: UInt64, _ commands: CommandRun) {
        guard number > applied else { return }
        let isNext = number == applied + 1 && !needsAssignments
        guard stage == .joined, isNext || breaks(.inboxGapsAreRepaired) else {
            needsAssignments = true
            return
        }
        applied = number
        for command in commands { apply(command) }
    }

    @inline(__always)
    private mutating func apply(_ command: Command) {
        switch command {
        case .start(let grant): start(grant)
        case .update(let effect, let attempt, let version, let request):
            update(effect, attempt, version, request)
        case .cancel(let effect, let attempt): cancel(effect, upTo: attempt)
        }
    }

    /// Parts of one assignment are applied together.
    mutating func assemble(_ part: Assignments) {
        guard stage == .claiming || stage == .joined else { return }
        var whole = part
        if part.part > 0 {
            guard let begun = assembling, begun.number == part.number, begun.watermark == part.watermark,
                begun.parts == part.parts, begun.part + 1 == part.part
            else {
                assembling = nil
                return
            }
            whole.grants = begun.grants + part.grants
        }
        assembling = whole
        guard whole.part + 1 == whole.parts else { return }
        assembling = nil
        apply(whole)
    }

    private mutating func apply(_ assignments: Assignments) {
        // What was taken before something this peer already knows must not undo it.
        let isOlder = assignments.number < applied && !breaks(.assignmentsAreNotOlder)
        let isUnaware = assignments.watermark < outbox.settled && !breaks(.assignmentsKnowTheWatermark)
        if isOlder || isUnaware {
            needsAssignments = true
            // An acknowledgement that came behind the join request knows of records that the journal may have lost. The reducer
            // has to hear of them, and does not by a claim.
            if isUnaware, stage == .claiming { enter(.joining) }
            return
        }
        applied = max(applied, assignments.number)
        needsAssignments = false
        var wanted: [EffectID: Attempt] = [:]
        for grant in assignments.grants { wanted[grant.effect] = grant.attempt }
        for effect in running.keys.sorted() {
            guard let attempt = running[effect]?.attempt, wanted[effect] != attempt else { continue }
            cancel(effect, upTo: attempt)
        }
        for grant in assignments.grants {
            if running[grant.effect] == nil {
                start(grant)
            } else {
                // An epoch's first assignment is the journal's word: a newer request may be of records that it has lost.
                if stage == .claiming, let index = running.index(forKey: grant.effect) {
                    if running[at: index].version > grant.version { running[at: index].version = .initial }
                }
                update(grant.effect, grant.attempt, grant.version, grant.request)
            }
        }
        if stage == .claiming {
            stage = .joined
            nextHeartbeat = now
        }
    }

    @inline(__always)
    private mutating func start(_ grant: Grant) {
        // A late word: the reducer has let go of everything, or gets it back with the goodbye.
        if ending != nil { return }
        let key = FinishedAttempt(effect: grant.effect, attempt: grant.attempt)
        if finished.contains(key) && !breaks(.finishedAttemptsAreRemembered) { return }
        if let current = running[grant.effect] {
            if current.attempt >= grant.attempt { return }
            cancel(grant.effect, upTo: current.attempt)
        }
        running.updateValue(RunningAttempt(attempt: grant.attempt, version: grant.version), forKey: grant.effect)
        // What a stopping peer hands back, it hands back when time passes: it may be cancelled by then.
        if !isStopping { actions.append(.run(grant)) }
    }

    private mutating func update(_ effect: EffectID, _ attempt: Attempt, _ version: Seq, _ request: RequestBytes) {
        guard let current = running[effect], current.attempt == attempt,
            current.version < version || breaks(.updatesAreNewer)
        else { return }
        running[effect]?.version = version
        actions.append(.update(effect, attempt, request: request))
    }

    mutating func cancel(_ effect: EffectID, upTo attempt: Attempt) {
        guard let current = running[effect], current.attempt <= attempt else { return }
        running[effect] = nil
        actions.append(.stop(effect, current.attempt))
    }

    // MARK: From the effects and the process

    /// Takes entries from the process, in order: events of clients and of effects that run here, and the ends of these effects.
    /// This is the only way in.
    public mutating func accept(_ run: EntryRun) -> Acceptance {
        var acceptance = Acceptance(first: lastNumber + 1)
        // Accepted entries that are not in the outbox yet.
        var start = run.startIndex
        for index in run.indices {
            let head = run.head(at: index)
            if let refusal = refusal(of: head, at: index, in: run, behind: start) {
                acceptance.refused.append((index, refusal))
                keep(start..<index, of: run)
                start = index + 1
            } else if head.endsTheBody {
                running[head.effect] = nil
                finished.insert(FinishedAttempt(effect: head.effect, attempt: head.attempt))
                acceptance.ended.append((head.effect, head.attempt))
            }
        }
        keep(start..<run.endIndex, of: run)
        return acceptance
    }

    /// Why an entry is not accepted; nil: it is. An end is accepted even if the outbox is full: a part of it is kept for ends.
    private mutating func refusal(
        of entry: EntryHead, at index: Int, in run: EntryRun, behind start: Int
    ) -> SendRefusal? {
        let isEvent = entry.kind == .event
        if isEvent, hasLeft || ending != nil { return SendRefusal(.ended) }
        if entry.hasEffect, running[entry.effect]?.attempt != entry.attempt { return SendRefusal(.stale) }
        guard isEvent else { return nil }
        if run.payloadBytesMax > eventBytesMax {
            let byteCount = run.payload(of: entry).count
            if byteCount > eventBytesMax {
                let detail = "\(byteCount) bytes encoded, the limit is \(eventBytesMax)"
                return SendRefusal(.tooLarge, detail: detail)
            }
        }
        guard hasSpaceForEvents(after: index - start, bytes: run.byteCount(of: start..<index)) else {
            hadNoSpace = true
            return SendRefusal(.overloaded)
        }
        return nil
    }

    private mutating func keep(_ range: Range<Int>, of run: EntryRun) {
        if range.isEmpty { return }
        if outbox.isEmpty { progressAt = now }
        if range == run.startIndex..<run.endIndex {
            _ = outbox.accept(run)
        } else {
            var part = EntryRun()
            part.append(run[range])
            _ = outbox.accept(part)
        }
    }

    /// One event of a client, or of an effect that runs here.
    /// - Parameter isLast: the effect's body ends with the event, if that is accepted.
    public mutating func send(
        _ payload: ArraySlice<UInt8>, of effect: (id: EffectID, attempt: Attempt)?, wantsSeq: Bool,
        isLast: Bool = false
    ) -> SendResult {
        let acceptance = accept([
            Entry(
                kind: .event, effect: effect?.id, attempt: effect?.attempt ?? .none, payload: payload,
                wantsSeq: wantsSeq, isLast: isLast)
        ])
        guard let refusal = acceptance.refused.first?.refusal else { return .accepted(number: acceptance.first) }
        return refusal.reason == .overloaded ? .full : .refused(refusal)
    }

    /// The body of an effect returned, or threw.
    public mutating func effectEnded(_ effect: EffectID, _ attempt: Attempt, failure: Failure?) {
        _ = accept([Entry(endOf: effect, attempt, failure)])
    }

    /// Hands everything back, then says goodbye: `finished` follows when all outcomes are known.
    public mutating func stop(at now: MonotonicTime) {
        self.now = max(self.now, now)
        guard !isStopping, !hasLeft else { return }
        isStopping = true
        for effect in running.keys.sorted() {
            guard let attempt = running[effect]?.attempt else { continue }
            actions.append(.stop(effect, attempt))
            release(effect)
        }
        nextHeartbeat = self.now
        finishIfEmpty()
    }

    /// Hands back what was granted to a peer that had been asked to stop.
    mutating func releaseAll() {
        for effect in running.keys.sorted() { release(effect) }
        finishIfEmpty()
    }

    private mutating func release(_ effect: EffectID) {
        guard let attempt = running[effect]?.attempt else { return }
        _ = accept([Entry(kind: .released, effect: effect, attempt: attempt)])
    }

    mutating func finishIfEmpty() {
        guard isStopping, outbox.isEmpty, running.isEmpty, !hasLeft else { return }
        if session == .none { return finish() }
        stage = .leaving
        leavesBy = now + min(silenceLimit, .seconds(2))
        nextStep = now
        leave()
    }

    /// Says goodbye again and again, until the reducer has heard it, or for so long.
    mutating func leave() {
        if now >= leavesBy { return finish() }
        step { $0.goodbye }
    }

    mutating func finish() {
        actions.append(.finished)
        stage = .over
    }

    // MARK: To the socket

    /// The next batch to push, while there is one. Batches grow with the backlog and never wait.
    public mutating func nextBatch() -> Batch? {
        guard stage == .joined, let (first, entries) = outbox.next(entriesMax: 512, bytesMax: 256 << 10) else {
            return nil
        }
        return Batch(
            loop: loop, history: history, session: session, settled: settledForGood,
            applied: applied, first: first, entries: entries)
    }

    /// The socket did not take a batch: it is to be sent again.
    public mutating func couldNotPush(_ batch: Batch) { outbox.goBack(to: batch.first - 1) }
}
