package import LoopCollections
import LoopCore
import LoopWire

/// The application of records, one after the other, live and at replay alike.
extension JournaledState {
    /// Applies one record.
    /// - Parameter event: the event of an event record, if the caller has already decoded it.
    /// - Returns: the changes among the live effects, in order.
    /// - Throws: at replay, any error of decoding the event's bytes. `DefinitionMismatch`, `OtherArguments`, `RecordDoesNotFit`
    ///   or `ReplayDifference` if this definition cannot continue the journal.
    @discardableResult
    package mutating func apply(_ record: Record, decoded event: borrowing Lent = Lent()) throws -> [LiveChange] {
        position += 1
        try checkNumbers(of: record)
        switch record {
        case .event(let record): return try apply(record, event)
        case .refused(let record):
            consume(
                record.session, record.number, ofEffect: record.effect != nil, notable: .refused(record.reason))
            if !record.detail.isEmpty {
                sessions[record.session]?.keep(RefusalDetail(number: record.number, text: record.detail))
            }
            if let effect = record.effect { void(effect, upTo: record.attempt) }
        case .completed(let session, let number, let effect, _):
            consume(session, number, ofEffect: true, notable: nil)
            complete(effect)
        case .skipped(let session, let number):
            consume(session, number, ofEffect: true, notable: nil)
        case .granted(let grants):
            for (index, effect) in grants.effects.enumerated() { grant(grants.attempt(at: index), of: effect) }
        case .attemptEnded(let end):
            if let entry = end.entry { consume(entry.session, entry.number, ofEffect: true, notable: nil) }
            finish(end)
        case .sessionOpened(let session, let peer):
            if let older = sessionByPeer[peer] { olderSessions[peer, default: []].append(older) }
            sessions[session] = SessionRecord(peer: peer)
            sessionByPeer[peer] = session
            nextSession = SessionID(session.value &+ 1)
        case .sessionOwned(let session, let owner):
            guard sessions[session] != nil else {
                throw RecordDoesNotFit(reason: "session \(session) has an owner and was never opened")
            }
            sessions[session]?.owner = owner
        case .sessionRetired(let session):
            guard let record = sessions.removeValue(forKey: session) else { break }
            answersBytes -= record.answers.byteCount
            if sessionByPeer[record.peer] == session {
                sessionByPeer[record.peer] = nil
            } else if let older = olderSessions[record.peer]?.filter({ $0 != session }) {
                olderSessions[record.peer] = older.isEmpty ? nil : older
            }
        case .epochBegun(let epoch, let time):
            epochs.append(epoch)
            if epochs.count > Self.epochsMax { epochs.removeFirst() }
            self.time = max(self.time, time)
            for (place, _) in sessions.places where sessions[at: place].idleSince == nil {
                sessions[at: place].idleSince = self.time
            }
        case .definition(let record):
            return try follow(record)
        case .stateHash(let seq, let hash):
            try compare(hash, at: seq)
        case .stateMarked(let seq):
            mark = isComparable ? (seq, digest().hash) : nil
        case .markHash(let seq, let hash):
            // A replay that began after the mark has nothing to compare.
            if let mark = mark.take(), mark.seq == seq, mark.hash != hash {
                throw ReplayDifference(seq: seq, journaled: hash, replayed: mark.hash)
            }
        case .quarantined(let record):
            consume(
                record.session, record.number, ofEffect: record.effect != nil, notable: .refused(.quarantined))
            if record.isLast, let effect = record.effect, !brokenRules.contains(.quarantinedEndsAreEnds) {
                complete(effect)
            }
            var kept = record
            kept.isLast = false
            quarantine[record.id] = kept
            quarantinedCount = max(quarantinedCount, record.id)
        case .scheduled(let record):
            time = max(time, record.time)
            stand(record.schedule, at: record.next, record.plan, ran: nil)
        case .operatorAction(let action):
            apply(action)
        case .historyBegun(let history, let time):
            self.history = history
            self.time = max(self.time, time)
            sessions.removeAll()
            answersBytes = 0
            sessionByPeer = [:]
            olderSessions = [:]
            if brokenRules.contains(.newHistoriesVoid) { break }
            for effect in effects.keys {
                void(effect, upTo: Self.allAttempts(of: epoch))
                effects[effect]?.wasGranted = true
            }
        }
        return []
    }

    private mutating func apply(_ action: OperatorAction) {
        switch action.what {
        case .retryParked(let effect):
            guard case .parked = effects[effect]?.status else { return }
            effects[effect]?.status = .open
            effects[effect]?.failures = 0
            effects[effect]?.retry = nil
        case .retryQuarantined(let id), .dropQuarantined(let id):
            quarantine[id] = nil
        case .pauseSchedule(let number): schedules[number]?.isPaused = true
        case .resumeSchedule(let number): schedules[number]?.isPaused = false
        case .runSchedule: break
        case .acceptClock: time = action.time
        }
    }

    /// Sets the next time of a schedule that has run, or begins.
    private mutating func stand(_ schedule: UInt32, at next: WallTime, _ plan: UInt64, ran: WallTime?) {
        var standing = schedules[schedule] ?? ScheduleStanding(next: next, plan: plan)
        standing.next = next
        standing.plan = plan
        if let ran { standing.last = ran }
        schedules[schedule] = standing
    }

    /// Applies an event that has just come.
    /// - Returns: the changes among the live effects. It is nil if the bytes are no event of the present schema; then nothing
    ///   has changed.
    mutating func take(_ record: EventRecord) -> [LiveChange]? {
        guard let live = try? apply(record, Lent()) else { return nil }
        position += 1
        return live
    }

    /// Keeps the memory of changes that `take` has returned for the next ones.
    mutating func keepSpace(of changes: consuming [LiveChange]) { live = changes }

    /// Applies an event of this schema, or of an older one if another definition's events are reinterpreted.
    private mutating func apply(_ record: EventRecord, _ event: borrowing Lent) throws -> [LiveChange] {
        if foreign != nil { try reinterpret(from: record.seq) }
        let step = LoopStep(
            transition: Transition(seq: record.seq, time: record.time, seed: history.value), note: note)
        let early = record.wantsAnswer && brokenRules.contains(.answersFollowTheirEvent) ? answer(to: record) : nil
        if event.isEmpty {
            try loopState.apply(record.bytes, from: schemaOfEvents, step, into: &changes)
        } else {
            loopState.apply(decoded: event, step, into: &changes)
        }
        seq = record.seq
        time = record.time
        startsCount = 0
        consume(
            record.session, record.number, ofEffect: record.effect != nil,
            notable: record.wantsSeq ? .applied(record.seq) : nil)
        if record.wantsAnswer { keep(early ?? answer(to: record), of: record) }
        if let run = record.run, !run.isByHand, !brokenRules.contains(.schedulesMoveOn) {
            stand(run.schedule, at: run.next, run.plan, ran: run.due)
        }
        let place = record.effect.flatMap { effects.index(forKey: $0) }
        if let place { void(at: place, before: record.attempt) }
        let live =
            changes.isEmpty ? [] : takeChanges(in: trace(of: record)?.applied(at: record.seq, of: history))
        // The event may have cancelled its own effect, and started another in its place.
        if let place, record.isLast, effects.keyIfTaken(at: place) == record.effect,
            !(record.isOfTimer && brokenRules.contains(.firedTimersAreCompleted))
        {
            complete(at: place)
        }
        return live
    }

    /// The place of an event in a trace, or nil if it is in none. While a timer is live, its event has the timer's place.
    @inline(__always)
    func trace(of record: borrowing EventRecord) -> TraceContext? {
        if let trace = record.trace { return trace }
        guard !traces.isEmpty, record.isOfTimer, let timer = record.effect else { return nil }
        return traces[timer]
    }

    /// The place in a trace of the transition that started an effect, or nil if it is in none.
    @inline(__always)
    func trace(ofEffect effect: EffectID) -> TraceContext? { traces.isEmpty ? nil : traces[effect] }

    /// Completes an effect whose body has returned.
    private mutating func complete(_ effect: EffectID) {
        if let place = effects.index(forKey: effect) { complete(at: place) }
    }

    private mutating func complete(at place: Int) {
        if effects[at: place].isOpen { effects[at: place].status = .completed }
    }

    /// Counts a record of a hash, which was made from the present state and changes nothing.
    package mutating func countRecordOfHash() { position += 1 }

    mutating func consume(_ session: SessionID, _ number: UInt64, ofEffect: Bool, notable: EntryOutcome?) {
        guard let index = sessions.index(forKey: session) else { return }
        sessions[at: index].consume(number, ofEffect: ofEffect, notable: notable)
    }

    /// Applies the changes of the queries to the live effects.
    /// - Parameter trace: the place of the transition in a trace, or nil if it is in none. The effects that start get it.
    mutating func takeChanges(in trace: TraceContext? = nil) -> [LiveChange] {
        // The memory of the last changes is used again.
        var live: [LiveChange] = []
        swap(&live, &self.live)
        live.removeFew()
        for index in changes.indices {
            // The change is taken out, because a copy would add a reference to its request.
            var change = EffectChange.cancel(EffectID(feedback: 0, seq: .initial, index: 0))
            swap(&change, &changes[index])
            switch consume change {
            case .start(let id, let request):
                startsCount &+= 1
                let feedback = table[id.feedback]
                let floor =
                    brokenRules.contains(.newEffectsHaveAFloor) ? .none : Attempt(epoch: epoch.number, count: 0)
                let place = effects.updateValue(
                    LiveEffect(
                        request: feedback?.encode(request), version: seq, group: feedback?.group?(request), floor: floor
                    ),
                    forKey: id)
                if let trace { traces[id] = trace }
                live.append(LiveChange(.started, id, at: place))
            case .update(let id, let request):
                let place = effects.index(forKey: id)
                guard let bytes = table[id.feedback]?.encode(request) else {
                    if let place {
                        effects[at: place].status = .unsendable
                        // The worker that runs it has to stop, and must not continue after a restart if it missed the cancellation.
                        void(id, upTo: Self.allAttempts(of: epoch))
                    }
                    live.append(LiveChange(.cancelled, id, at: place))
                    continue
                }
                if let place {
                    let wasUnsendable = effects[at: place].isUnsendable
                    // A query that does not know its last request repeats all of them.
                    if effects[at: place].request == bytes, !wasUnsendable { continue }
                    let isSetAgain = table[id.feedback]?.timer?.isMoved(effects[at: place], to: bytes) ?? false
                    effects[at: place].request = bytes
                    effects[at: place].version = seq
                    if wasUnsendable || isSetAgain { effects[at: place].status = .open }
                }
                live.append(LiveChange(.updated, id, at: place))
            case .cancel(let id):
                let place = effects.index(forKey: id)
                if let place { effects.drop(at: place, id.mixed) }
                if !traces.isEmpty { traces[id] = nil }
                live.append(LiveChange(.cancelled, id, at: place))
            }
        }
        changes.removeFew()
        return live
    }

    mutating func void(_ effect: EffectID, upTo attempt: Attempt) {
        guard let index = effects.index(forKey: effect), attempt > effects[at: index].floor else { return }
        effects[at: index].floor = attempt
        if attempt.count == .max { effects[at: index].mayBeHeld = false }
    }

    /// Voids the attempts before one that commits, even if the records that took them away are lost.
    private mutating func void(at place: Int, before attempt: Attempt) {
        if brokenRules.contains(.commitsEndEarlierAttempts) { return }
        let last = Attempt(epoch: attempt.epoch, count: attempt.count &- 1)
        if attempt.count > 0, effects[at: place].floor < last { effects[at: place].floor = last }
    }

    /// Grants an attempt, and voids all earlier ones.
    private mutating func grant(_ attempt: Attempt, of effect: EffectID) {
        if let place = effects.index(forKey: effect) { effects[at: place].grant(attempt) }
    }

    private mutating func finish(_ end: AttemptEnd) {
        void(end.effect, upTo: end.upTo)
        effects[end.effect]?.mayBeHeld = false
        let counts = (end.cause == .failed || end.cause == .timedOut) && !brokenRules.contains(.failuresAreCounted)
        if counts { effects[end.effect]?.failures &+= 1 }
        switch end.next {
        case .retry(let retry): effects[end.effect]?.retry = retry
        case .parked: effects[end.effect]?.status = .parked(end.message)
        }
    }
}

/// Definitions that follow each other on one journal. Each takes over at its record, with which every epoch begins.
///
///     empty ──▶ its own record: the queries run on the initial state
///     another's record ──▶ the other's effects stay as they are; its events cannot be applied
///     its own or another's ──▶ its own record: effects of feedbacks that are gone are cancelled; every query compares
///                              its memory with what the state asks for
///
/// If nothing has changed, its own record changes nothing. If only the code of a query has changed, the effects that the state
/// asks for continue or start at that record.
extension JournaledState {
    mutating func follow(_ record: DefinitionRecord) throws -> [LiveChange] {
        try check(record)
        if journaledDefinition == nil, ignoresArguments, !record.initialState.isEmpty {
            try loopState.restoreState(record.initialState, from: older(record.schema), at: time)
        }
        let isOwn = record.fingerprint == loop.fingerprint.value
        // The changes that another definition makes at its record cannot be known.
        if !isOwn, foreign == nil { foreign = try loopState.memories() }
        journaledDefinition = record
        table = FeedbackTable(names: record.feedbacks, declared: loop.feedbacks)
        if isOwn { return takeOver() }
        startsCount &+= Self.unknownStarts
        return []
    }

    /// How many effects another definition counts as having started, if the number is not known.
    private static var unknownStarts: UInt32 { 1 << 24 }

    private func check(_ record: DefinitionRecord) throws {
        if record.schema == loop.schema, record.initial != loop.initialHash, !ignoresArguments {
            throw OtherArguments(journal: record.initial, binary: loop.initialHash)
        }
        guard let known = journaledDefinition?.feedbacks else { return }
        guard record.feedbacks.starts(with: known) else {
            throw RecordDoesNotFit(
                reason: "feedbacks \(record.feedbacks.joined(separator: ", ")) do not begin with those before,"
                    + " \(known.joined(separator: ", "))")
        }
    }

    /// Prepares for the events of another definition from `seq` on. They are applied with this one if that was requested.
    mutating func reinterpret(from seq: Seq) throws {
        guard let journaledDefinition else {
            throw RecordDoesNotFit(reason: "event \(seq) comes before any definition")
        }
        guard reinterprets == .always || reinterprets == .sameSchema && journaledDefinition.schema == loop.schema else {
            throw DefinitionMismatch(journal: journaledDefinition, binary: ownDefinition, seq: seq)
        }
        hasReinterpreted = true
        _ = takeOver()
    }

    /// Runs this definition's queries from here on, beginning with the present state.
    private mutating func takeOver() -> [LiveChange] {
        if !schedules.isEmpty { schedules = schedules.filter { table[$0.key]?.schedule != nil } }
        for id in effects.keys.filter({ table[$0.feedback]?.hasQuery != true }).sorted() { changes.append(.cancel(id)) }
        if let memories = foreign {
            loopState.beginQueries(table.numbers)
            loopState.adopt(memories, into: &changes)
            foreign = nil
        }
        loopState.reconcile(seq: seq, firstIndex: startsCount, into: &changes)
        regroup()
        let ofThisSeq = Set(
            changes.compactMap { change -> EffectID? in
                guard case .update(let id, _) = change, effects[id]?.version == seq else { return nil }
                return id
            })
        let live = takeChanges()
        for change in live where change.kind == .updated && ofThisSeq.contains(change.effect) {
            // The worker that runs it cannot distinguish the new request from the old one by its version, so a new attempt starts.
            void(change.effect, upTo: Self.allAttempts(of: epoch))
        }
        return live
    }

    /// Gives all effects the groups of the present definition, even those that another one started. A keyed query reports the
    /// requests of all effects that it keeps; the requests of the few others are decoded.
    private mutating func regroup() {
        var groups: [UInt32: @Sendable (any Sendable) -> String] = [:]
        for number in table.numbers { groups[number] = table[number]?.group }
        var told: Set<UInt32> = []
        for case .update(let id, let request) in changes {
            guard let derive = groups[id.feedback] else { continue }
            told.insert(id.feedback)
            let group = derive(request)
            if effects[id]?.group != group { effects[id]?.group = group }
        }
        for (id, effect) in effects where !told.contains(id.feedback) {
            let derive = groups[id.feedback]
            let request =
                derive == nil ? nil : try? table[id.feedback]?.requestCoding?.decode(effect.request, loop.coder)
            let group = derive.flatMap { request.map($0) }
            if effect.group != group { effects[id]?.group = group }
        }
    }

    /// An attempt that is not below any attempt of an epoch or of those before it.
    static func allAttempts(of epoch: Epoch) -> Attempt { Attempt(epoch: epoch.number, count: .max) }

    /// An attempt that is not below any attempt of the epochs before one.
    static func allAttempts(before epoch: Epoch) -> Attempt { Attempt(epoch: epoch.number &- 1, count: .max) }
}

/// Which events of another definition are applied with this one.
public enum Reinterpretation: Sendable {
    /// None. They are refused.
    case never
    /// Those of definitions with the same schema. Their `reduce` is the same, or the schema would differ.
    case sameSchema
    /// All events.
    case always
}
