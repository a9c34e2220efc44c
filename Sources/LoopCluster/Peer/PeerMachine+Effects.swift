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
            // An acknowledgement that came behind the greeting knows of records that the journal may have lost. The reducer
            // has to hear of them, and does not by a claim.
            if isUnaware, stage == .claiming { enter(.greeting) }
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

    /// An event of a client, or of an effect that runs here.
    /// - Parameter isLast: the effect's body has ended with it; it has, where the event is accepted.
    public mutating func send(
        _ payload: ArraySlice<UInt8>, of effect: (id: EffectID, attempt: Attempt)?, wantsSeq: Bool,
        isLast: Bool = false
    ) -> SendResult {
        if hasLeft || ending != nil { return .refused(SendRefusal(.ended)) }
        if let effect, running[effect.id]?.attempt != effect.attempt { return .refused(SendRefusal(.stale)) }
        if payload.count > eventBytesMax {
            return .refused(
                SendRefusal(.tooLarge, detail: "\(payload.count) bytes encoded, the limit is \(eventBytesMax)"))
        }
        guard hasRoomForEvents else {
            hadNoRoom = true
            return .full
        }
        let entry = Entry(
            kind: .event, effect: effect?.id, attempt: effect?.attempt ?? .none, payload: payload,
            wantsSeq: wantsSeq, isLast: isLast)
        if isLast, let effect {
            running.removeValue(forKey: effect.id)
            finished.insert(FinishedAttempt(effect: effect.id, attempt: effect.attempt))
        }
        return .accepted(number: accept(entry))
    }

    /// Events of clients for whose seq nobody asks, all at once: as if each had been sent.
    /// - Returns: the number of the first; nil, and nothing has changed: they must be sent one by one.
    public mutating func take(_ run: EntryRun) -> UInt64? {
        guard run.isPlain, !hasLeft, ending == nil, run.payloadBytesMax <= eventBytesMax,
            outbox.count + run.count <= configuration.outboxEntriesMax - configuration.outboxEntriesReserved,
            outbox.byteCount + run.byteCount <= configuration.outboxBytesMax
        else { return nil }
        if outbox.isEmpty { progressAt = now }
        return outbox.base + outbox.accept(run)
    }

    /// What a process has left, in order: events of clients and of effects that run here, and the ends of these. Accepts
    /// those that can be accepted as they are, from one on, until it meets one that cannot.
    /// - Parameter ended: told the effects whose body has ended.
    /// - Returns: how many were accepted; the first of them has the number `lastNumber + 1` of before. One behind them must be
    ///   handed over by itself.
    public mutating func take(_ run: EntryRun, from start: Int, ended: (EffectID, Attempt) -> Void) -> Int {
        let count = run.endIndex - start
        guard count > 0, !hasLeft, ending == nil, run.payloadBytesMax <= eventBytesMax,
            outbox.count + count <= configuration.outboxEntriesMax - configuration.outboxEntriesReserved,
            outbox.byteCount + run.byteCount(of: start..<run.endIndex) <= configuration.outboxBytesMax
        else { return 0 }
        var index = start
        // Most events of effects are followed by their end: the place of the last one often is the place of the next.
        var place: Int?
        run.forEachHead(in: start..<run.endIndex) { _, entry in
            if entry.hasEffect {
                place = running.index(forKey: entry.effect, near: place)
                guard let found = place, running[at: found].attempt == entry.attempt, entry.kind != .released else {
                    return false
                }
                if entry.endsTheBody {
                    running.remove(at: found, entry.effect.mixed)
                    place = nil
                    finished.insert(FinishedAttempt(effect: entry.effect, attempt: entry.attempt))
                    ended(entry.effect, entry.attempt)
                }
            }
            index += 1
            return true
        }
        if index == start { return 0 }
        if outbox.isEmpty { progressAt = now }
        if index == run.endIndex, start == run.startIndex {
            _ = outbox.accept(run)
        } else {
            var part = EntryRun()
            part.append(run[start..<index])
            _ = outbox.accept(part)
        }
        return index - start
    }

    /// The body of an effect returned, or threw.
    public mutating func effectEnded(_ effect: EffectID, _ attempt: Attempt, failure: Failure?) {
        guard let place = running.index(forKey: effect), running[at: place].attempt == attempt else { return }
        running.remove(at: place, effect.mixed)
        finished.insert(FinishedAttempt(effect: effect, attempt: attempt))
        let entry =
            failure.map { Entry(kind: .failed, effect: effect, attempt: attempt, payload: $0.bytes[...]) }
            ?? Entry(kind: .completed, effect: effect, attempt: attempt)
        _ = accept(entry)
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
        guard let attempt = running.removeValue(forKey: effect)?.attempt else { return }
        finished.insert(FinishedAttempt(effect: effect, attempt: attempt))
        _ = accept(Entry(kind: .released, effect: effect, attempt: attempt))
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

    private mutating func accept(_ entry: Entry) -> UInt64 {
        if outbox.isEmpty { progressAt = now }
        return outbox.base + outbox.accept(entry)
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
