package import LoopCore
package import LoopWire

/// The reducer's side of the protocol, without sockets, clocks, threads or randomness.
///
///     turn(at:) { intake in … } ──▶ Ready ──▶ journal ──▶ receipt ──▶ release ──▶ Released { messages, jobs, … }
///
/// A shell performs a turn in one way. `turn` provides an intake for what has arrived, then advances the time, and ends with
/// the records to append. `release` exchanges the journal's receipt for everything that depends on those records (G7). Turns
/// may continue while earlier ones wait for their receipts, except after a barrier (`Ready.isBarrier`).
///
/// The machine consists of parts that do not know each other. It passes each message to the part that decides about it. It
/// writes the decision into the journal, and passes it to the parts that it concerns.
///
///     messages ──▶ admission ─────▶ members ──▶ commands, acknowledgements, ticks
///     batches ──▶ poison watch ──▶ journaled state ──▶ dispatch ──▶ grants ──▶ members
///                       ▲               └──▶ timers ──▶ what is due
///                                       └──▶ hashing, updates ──▶ observers
///
/// Only the state itself has the definition's types, and it is here as a `LoopState`, so that the machine is compiled once for
/// all definitions. A shell passes its inputs only to a turn's intake. They are control messages (join requests, claims,
/// heartbeats, requests), batches of entries, subscriptions, answers, and the time.
package struct ReducerMachine: Sendable {
    /// The limits, the broken rules and the time.
    var context: TurnContext
    let setting: ReducerSetting
    /// What the shell knows, as of its newest turn.
    var facts = ShellFacts()
    var phase = Phase.serving
    /// The newest loss that a peer reported, but that was not believed.
    var disbelievedLoss: (loss: HistoryLost, at: Moment)?
    /// The history from which a peer with a session here came back last.
    var otherHistory: (history: History, peer: PeerID, at: Moment)?
    /// The leaders that were found at the same addresses, besides this one.
    var otherLeaders: [LeaderFound] = []
    /// When this reducer began to lead.
    let began: MonotonicTime
    /// Everything the journal determines, as of the newest turn.
    package internal(set) var journaled: JournaledState
    /// The output of this turn, until `ready` hands it out.
    var turn = TurnOutput()

    var access: Access
    var admission = Admission()
    var dispatch: Dispatch
    var timers = Timers()
    var schedules = Schedules()
    var ticks: Ticks
    var updates = Updates()
    var hashing = StateHashing()
    var explanations = ExplanationLimit()
    /// How often the definition was found to be impure. Only counted in development.
    var impuritiesCount = 0
    var poison: PoisonWatch
    var unserved = UnservedFeedbacks()
    /// Whether the clock was last reported as behind the journal.
    var isClockBehind = false

    /// Creates a machine on an empty journal, at the beginning of its first epoch.
    /// - Parameters:
    ///   - definition: the loop to run.
    ///   - configuration: the reducer's limits.
    ///   - setting: what the reducer is told of its process.
    ///   - coder: the coder of the definition's values.
    ///   - history: the random name of the new history.
    ///   - seed: the seed of the jitter in delays.
    ///   - nonce: a random number that distinguishes this epoch from others of its number.
    ///   - now: the shell's present time.
    package init(
        definition: some LoopDefinition, configuration: ReducerConfiguration,
        setting: ReducerSetting = ReducerSetting(), coder: any ValueCoder, history: History, seed: UInt64,
        nonce: UInt64, at now: Moment
    ) {
        self.init(
            recovered: JournaledState(definition: definition, coder: coder, history: history),
            configuration: configuration, setting: setting, seed: seed, nonce: nonce, at: now)
    }

    /// Creates a machine that continues a journal, at the beginning of a new epoch. Effects of an earlier epoch first wait for
    /// claims.
    /// - Parameters:
    ///   - recovery: the replayed journal.
    ///   - configuration: the reducer's limits.
    ///   - setting: what the reducer is told of its process.
    ///   - seed: the seed of the jitter in delays.
    ///   - nonce: a random number that distinguishes this epoch from others of its number.
    ///   - now: the shell's present time.
    package init(
        _ recovery: Recovery, configuration: ReducerConfiguration, setting: ReducerSetting = ReducerSetting(),
        seed: UInt64, nonce: UInt64, at now: Moment
    ) {
        self.init(
            recovered: recovery.journaled, configuration: configuration, setting: setting, seed: seed, nonce: nonce,
            at: now)
    }

    /// Creates a machine from a state that was recovered in another way. It writes each entry that it reduces into the state's
    /// crash note, and reduces the note's suspects alone.
    package init(
        recovered journaled: JournaledState, configuration: ReducerConfiguration,
        setting: ReducerSetting = ReducerSetting(), seed: UInt64, nonce: UInt64, at now: Moment
    ) {
        self.setting = setting
        context = TurnContext(
            configuration: configuration, brokenRules: journaled.brokenRules, clock: ReducerClock(at: now))
        began = now.monotonic
        self.journaled = journaled
        access = Access(isGuarded: setting.isGuarded)
        dispatch = Dispatch(seed: seed)
        ticks = Ticks(at: now.monotonic)
        poison = PoisonWatch(suspects: journaled.note?.suspects ?? [])
        begin(nonce: nonce)
    }

    // MARK: Epochs

    /// Begins an epoch, in which peers may join from now on. Live effects of an earlier epoch first wait for claims.
    private mutating func begin(nonce: UInt64) {
        let isFirst = journaled.epoch == .none
        let before = journaled.journaledDefinition
        let definition = journaled.ownDefinition
        let changes = write(.definition(definition))
        if let before, before.fingerprint != definition.fingerprint {
            turn.news.append(.definitionUpgrade(NewsOfUpgrade(from: before, to: definition, changes)))
        }
        dispatch.begin(journaled.table)
        acceptClock()
        write(.epochBegun(Epoch(number: journaled.epoch.number + 1, nonce: nonce), context.now.wall))
        turn.beginEpoch(journaled.epoch, of: journaled.history)
        for (session, record) in journaled.sessions {
            if let owner = record.owner { admission.origins.note(session, from: [.key(owner)]) }
        }
        context.clock.epochBegan(at: journaled.time)
        if isFirst || !breaks(.timersAreSetAgain) { timers.begin(journaled) }
        let open = Set(
            journaled.effects.lazy.filter { [timers] in $0.value.status == .open && !timers.isTimer($0.key) }
                .map(\.key))
        // The process that ran the local effects is gone, so no worker can claim them.
        let held = open.filter { [journaled] effect in
            journaled.effects[effect]?.mayBeHeld ?? false && journaled.table.group(effect.feedback) != localGroup
        }
        for id in open.subtracting(held).sorted() { schedule(id) }
        for change in changes where change.kind == .started {
            if journaled.effects[change.effect]?.isUnsendable == true { tellUnsendable(change.effect) }
        }
        awaitClaims(of: held)
        poison.review(journaled)
        noticeOutcome()
        beginSchedules()
    }

    /// Lets effects that were granted in earlier epochs wait for the claims of the workers that run them.
    private mutating func awaitClaims(of effects: Set<EffectID>) {
        if effects.isEmpty { return }
        phase = .grace(
            Grace(
                unclaimed: effects,
                awaited: Set(journaled.sessions.lazy.filter { $0.value.peer != .local }.map(\.key)),
                ends: context.now.monotonic + context.configuration.silenceLimit + setting.searchLimit))
    }

    /// Queues effects that no worker has claimed in time, before newer ones. Until such an effect is granted, its worker may still
    /// claim it.
    private mutating func endGrace() {
        guard let grace = phase.grace, grace.isOver(at: context.now.monotonic) else { return }
        for effect in grace.unclaimed.sorted() { schedule(effect, isFirst: true) }
        phase.inGrace { $0.settleAll() }
    }

    // MARK: Turns

    /// Performs one turn: takes what has arrived, advances the time, and grants what can be granted.
    /// - Parameters:
    ///   - now: the time of arrival. The turn ends at this time, or at one that the closure passes to `passTime`.
    ///   - take: passes to the intake, which is this machine, what has arrived.
    /// - Returns: the records to append before anything leaves.
    package mutating func turn<Failure: Error>(
        at now: Moment, _ take: (_ intake: inout ReducerMachine) throws(Failure) -> Void
    ) throws(Failure) -> Ready {
        passTime(to: now)
        takeDeferred()
        try take(&self)
        advance()
        return ready()
    }

    /// Performs a turn in which nothing has arrived.
    package mutating func turn(at now: Moment) -> Ready { turn(at: now) { _ in } }

    /// Ends a turn whose records are durable. It returns everything that may happen now, and forgets the suspects that survived
    /// the turn.
    /// - Parameters:
    ///   - ready: the result of the turn. Turns are released in their order.
    ///   - receipt: the journal's receipt for the turn's records or for later ones. An earlier one is a programming error.
    package mutating func release(_ ready: consuming Ready, _ receipt: JournalReceipt) -> Released {
        precondition(
            receipt.position >= ready.position,
            "what depends on record \(ready.position) was to leave on a receipt through \(receipt.position)")
        if !breaks(.survivorsAreStruck) { poison.strike(ready.survivors, from: journaled.note) }
        return ready.released
    }

    /// Advances the time of the turn. What is received from here on arrives at this moment.
    package mutating func passTime(to now: Moment) { context.clock.pass(to: now) }

    /// Handles what time brings: leases, timeouts, grace, ticks. Called once in each turn, after everything was received.
    private mutating func advance() {
        if let gap = context.clock.advance(silenceLimit: context.configuration.silenceLimit) {
            // A reducer that was suspended must not take its own pause for its workers' silence.
            admission.forgive(gap, context)
            phase.inGrace { $0.extend(by: gap) }
        }
        endGrace()
        endTimedOutAttempts()
        takeFromTheSilent()
        fireTimers()
        runSchedules()
        tickIfDue()
    }

    /// Ends the turn: grants what can be granted, and hands out records and messages.
    private mutating func ready() -> Ready {
        noticeOutcome()
        hashing.hashIfDue(&journaled, &turn, context)
        if phase.grants, let grants = dispatch.grant(to: &admission.members, journaled, context) {
            write(.granted(grants))
        }
        sendCommands()
        acknowledge()
        if turn.endsLoop {
            // Observers of the state get the last state, or learn that it is unchanged, however recent the update before.
            updates.announce(journaled.seq)
            updates.hurry()
        }
        updates.publish(journaled, &turn, context)
        answerStatus()
        // This comes after everything else, so that the sender of the event that ended the loop learns that it was applied.
        if turn.endsLoop { announceEnd() }
        if phase.isLost { withholdMessages() }
        let survivors = poison.endTurn()
        defer { turn.beginNextTurn() }
        return Ready(
            records: turn.records, position: journaled.position, deadline: deadline, outcome: phase.outcome,
            historyLost: phase.loss,
            released: Released(
                messages: turn.messages, backgroundJobs: turn.backgroundJobs, journalRequests: turn.journalRequests,
                news: turn.news, traced: turn.traced),
            survivors: survivors)
    }

    private var deadline: MonotonicTime {
        let now = context.now.monotonic
        if poison.hasDeferred { return now }
        var earliest = ticks.nextAt
        func include(_ time: MonotonicTime?) { if let time { earliest = min(earliest, time) } }
        // After the end nothing is granted.
        if !phase.hasEnded { include(dispatch.startDeadline(after: now)) }
        if phase.grants {
            include(timers.deadline(context.clock, after: journaled.time))
            include(schedules.deadline(journaled, context.clock))
        }
        include(dispatch.attemptDeadline)
        include(phase.grace?.ends)
        include(updates.deadline(journaled.seq))
        include(admission.deadline(after: now))
        return earliest
    }

    // MARK: The end

    /// Ends the loop if the state has an outcome. This takes effect at once: no effect is granted or claimed any more.
    mutating func noticeOutcome() {
        guard !phase.hasEnded, let outcome = journaled.loopState.outcome else { return }
        phase.end(with: outcome)
        turn.endsLoop = true
        dispatch.releaseAll()
        admission.releaseAll()
        // A member that has claimed in this turn claims again, and gets an empty assignment.
        turn.removeMessages { message in
            guard case .reply(_, let frame) = message, case .assignments(let part) = frame.message else { return false }
            return !part.grants.isEmpty
        }
    }

    /// Announces the end to all members, and to observers without a session.
    private mutating func announceEnd() {
        guard let announcement else { return }
        for session in admission.members.keys.sorted() { send(announcement, to: session) }
        turn.publish(announcement, on: .tick(journaled.loop.id))
    }

    mutating func announceEnd(to session: SessionID) { if let announcement { send(announcement, to: session) } }

    private var announcement: ToPeer? {
        phase.outcome.map { .ended(at: journaled.seq, exitCode: $0.exitCode, text: String($0.text.prefix(4096))) }
    }

    // MARK: Time

    private mutating func takeFromTheSilent() {
        let now = context.now.monotonic
        guard let holdings = dispatch.silentHoldings(admission.members, journaled, at: now) else { return }
        tellSilence()
        for held in holdings.taken {
            turn.count(.leaseExpired)
            end(held.effect, AttemptOutcome(.unresponsive))
            admission.members.command(.cancel(held.effect, held.attempt), to: held.session)
        }
        dispatch.noteStranded(holdings, admission.members, at: now)
    }

    private mutating func tickIfDue() {
        guard ticks.begin(journaled.seq, context) else { return }
        tellSilence()
        tellUnserved()
        tellClock()
        let idle = admission.sessionsToRetire(journaled, isGrace: phase.grace != nil, context)
        for session in idle { retire(session, .idle) }
        // A member whose messages do not come gets no tick. It notices the problem by that, although it receives the reducer's
        // messages.
        for session in admission.members.keys.sorted() {
            if admission.isHeard(session, context) || breaks(.unheardAreNotTicked) {
                sendTick(to: session, resend: false)
            }
        }
        turn.publish(.serverHeartbeat(journaled.seq), on: .tick(journaled.loop.id))
        if !breaks(.endsAreRepeated) { announceEnd() }
        updates.announce(journaled.seq)
        updates.publishHashes(journaled, &turn)
        updates.dropTransfers(at: context.now.monotonic)
        dispatch.forgetEndedProgress(journaled.effects)
    }

    // MARK: Shared by several parts

    func breaks(_ rule: Rule) -> Bool { context.breaks(rule) }

    func policy(of effect: EffectID) -> EffectPolicy { journaled.feedback(of: effect)?.policy ?? EffectPolicy() }

    @discardableResult
    mutating func write(_ record: Record) -> [LiveChange] { turn.write(record, to: &journaled) }

    private mutating func write(_ end: AttemptEnd) {
        if breaks(.voidsAreDurable) && end.entry == nil {
            journaled.voidWithoutRecord(end.effect, upTo: end.upTo)
        } else {
            write(.attemptEnded(end))
        }
    }

    /// Queues an effect for a worker, or for its time, unless it is parked from the start.
    mutating func schedule(_ effect: EffectID, isFirst: Bool = false) {
        guard let place = journaled.effects.index(forKey: effect) else { return }
        if timers.isTimer(effect) {
            timers.follow(LiveChange(.started, effect, at: place), journaled, context.brokenRules)
        } else {
            dispatch.schedule(effect, at: place, isFirst: isFirst, journaled, context)
        }
    }

    /// Ends the current attempt of an effect, by a record. The effect waits again or is parked.
    mutating func end(_ effect: EffectID, _ outcome: AttemptOutcome) {
        guard let end = dispatch.end(effect, outcome, &admission.members, journaled, context) else { return }
        write(end)
        if outcome.retryIn == nil { turn.count(.effectParked) }
        tellEnd(of: effect, end.upTo, outcome)
    }

    /// Ends a session, whose effects are then granted to others.
    mutating func retire(_ session: SessionID, _ parting: ReducerNews.Parting) {
        tellLeft(session, parting)
        for effect in dispatch.effects(heldBy: session, admission.members, journaled.effects) {
            end(effect, AttemptOutcome(.released))
        }
        admission.members[session] = nil
        admission.origins.remove(session)
        phase.inGrace { $0.stopAwaiting(session) }
        write(.sessionRetired(session))
    }

    /// Sends a message through the inbox topic of a session's peer.
    mutating func send(_ message: ToPeer, to session: SessionID) {
        guard let peer = admission.members[session]?.peer else { return }
        turn.send(message, to: peer, session: session)
    }

    /// Counts an event that the shell has seen.
    package mutating func count(_ counter: Counter, _ amount: UInt64 = 1) { turn.count(counter, amount) }

    // MARK: For the shell

    /// The counters for people.
    package var counters: [Counter: UInt64] { turn.counters }

    /// The limits and intervals that the machine was made with.
    package var configuration: ReducerConfiguration { context.configuration }
    /// The hash of the definition, which peers of its schema must have too.
    package var fingerprintValue: UInt64 { journaled.loop.fingerprint.value }
    /// The present history of the journal.
    package var history: History { journaled.history }
    /// The epoch that the machine began.
    package var epoch: Epoch { journaled.epoch }
    /// The seq of the newest transition of the newest turn; 0 before the first event.
    package var seq: Seq { journaled.seq }

    /// The loop's outcome, once it has ended.
    package var end: Outcome? { phase.outcome }

    /// The stream with which the peer of this process continues its predecessor's session, after everything that was consumed
    /// of it. Nothing else of the predecessor can still arrive. It is nil if there is no such session yet.
    package var localStream: PeerStream? { journaled.localStream }

    /// How many peers are admitted, without a given one.
    package func memberCount(besides peer: PeerID?) -> Int { admission.members.count { $0.value.peer != peer } }

    /// The peers that are admitted.
    package var memberPeers: [PeerID] { admission.members.map { $0.value.peer } }

    /// Whether something that has arrived waits for the next turn.
    package var hasDeferred: Bool { poison.hasDeferred }

    /// Whether a member has sent something within the silence limit.
    package func hears(_ session: SessionID) -> Bool { admission.isHeard(session, context) }

    /// The sessions whose batches wait for their own turn.
    package var waitingSessions: [SessionID] { poison.deferred.batches.map(\.session) }
}
