import LoopCollections
import LoopCore
import LoopWire

/// One table of the live effects, with the owner of each and its order in the scheduler. (Protocol, sections 4 to 6.)
///
///     waiting ── grant ──▶ owned ── completed, cancelled ──▶ gone
///        ▲                   │
///        └── retry ── end ───┴── parked ──▶ gone, until an operator retries it
///
/// Effects are named by their places among the live ones. An effect whose place is known is found here without a search. This
/// type decides what happens; the machine writes the records of it.
struct Dispatch: Sendable {
    private(set) var owners = OwnerTable()
    private(set) var scheduler = PlacedScheduler(policies: [:])
    private var deadlines = BinaryHeap<AttemptDeadline>()
    /// When the effect at each place began to wait last, in this epoch.
    private var waitsSince: [MonotonicTime] = []
    /// Whether an attempt that has taken too long is a suspect, and waits for its own turn.
    private(set) var timeoutAwaitsTurn = false
    var stranded = Stranded()
    var progress = ProgressTable()
    /// How many attempts were granted in this epoch. The newest has this number.
    private var grantsCount: UInt64 = 0
    private var random: SeededRandom
    /// The figures of this epoch, by the number of the feedback.
    private(set) var figures: [EffectFigures] = []

    /// - Parameter seed: the seed of the jitter in delays.
    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Begins an epoch with a definition's policies, and without owners.
    mutating func begin(_ table: FeedbackTable) {
        scheduler = PlacedScheduler(policies: table.policies)
        figures = table.names.map { EffectFigures(feedback: $0) }
    }

    /// Begins a history. No effect is owned or waits, and attempts are counted from the first.
    mutating func beginHistory(_ effects: HashTable<EffectID, LiveEffect>) {
        for (place, _) in effects.places { scheduler.remove(at: place) }
        owners.removeAll()
        deadlines = BinaryHeap()
        grantsCount = 0
    }

    /// Removes all owners, because the loop has ended and no attempt may commit any more.
    mutating func releaseAll() { owners.removeAll() }

    // MARK: Waiting

    /// Queues the effect at a place for a worker, unless it is parked from the start.
    /// - Parameter isFirst: whether it comes before all effects that wait already.
    /// - Returns: whether it waits.
    @discardableResult
    mutating func schedule(
        _ effect: EffectID, at place: Int, isFirst: Bool = false, _ journaled: JournaledState, _ context: TurnContext
    ) -> Bool {
        guard journaled.effects[at: place].isOpen else { return false }
        noteWait(at: place, context)
        let retry = journaled.effects[at: place].retry
        scheduler.add(
            at: place, of: effect.feedback, group: journaled.effects[at: place].group,
            priority: journaled.priority(of: effect, at: place),
            notBefore: retry.flatMap { Self.notBefore($0, journaled, context) }, isFirst: isFirst)
        return true
    }

    private mutating func noteWait(at place: Int, _ context: TurnContext) {
        while waitsSince.count <= place { waitsSince.append(.zero) }
        waitsSince[place] = context.now.monotonic
    }

    /// When the effect at a place began to wait, or nil if it has an owner, or has never waited in this epoch.
    func waitsSince(at place: Int) -> MonotonicTime? { owners[place] == nil ? beganToWait(at: place) : nil }

    private func beganToWait(at place: Int) -> MonotonicTime? {
        place < waitsSince.count && waitsSince[place] != .zero ? waitsSince[place] : nil
    }

    /// Updates the priority of the effect at a place, because its request has changed.
    mutating func prioritize(_ effect: EffectID, at place: Int, _ journaled: JournaledState) {
        scheduler.prioritize(at: place, journaled.priority(of: effect, at: place))
    }

    private static func notBefore(
        _ retry: RetryTime, _ journaled: JournaledState, _ context: TurnContext
    ) -> MonotonicTime? {
        let wait = retry.wait(from: context.clock.wall(after: journaled.time))
        guard wait > .zero, !context.breaks(.retriesWait) else { return nil }
        return context.now.monotonic + wait
    }

    // MARK: Owners

    /// The session and the attempt that run the effect at a place, or nil if none does.
    func owner(at place: Int) -> Ownership? { owners[place] }

    /// Whether a session and an attempt own the effect at a place.
    func owns(_ session: SessionID, _ attempt: Attempt, _ place: Int) -> Bool {
        guard let owner = owners[place] else { return false }
        return owner.attempt == attempt && owner.session == session
    }

    /// Whether an entry that came too late voids its attempt, and with it all earlier ones. It does only if this reducer can have
    /// granted the attempt, and if the attempt is earlier than the owner's.
    func mayVoid(_ attempt: Attempt, of effect: EffectID?, _ journaled: JournaledState, _ rules: BrokenRules) -> Bool {
        guard attempt <= Attempt(epoch: journaled.epoch.number, count: grantsCount) else { return false }
        let place = effect.flatMap { journaled.effects.index(forKey: $0) }
        guard let holder = place.flatMap({ owners[$0] })?.attempt else { return true }
        return rules.contains(.refusalsSpareTheOwner) ? attempt != holder : attempt < holder
    }

    /// The effects of a member, in order.
    func effects(
        heldBy session: SessionID, _ members: Members, _ effects: HashTable<EffectID, LiveEffect>
    ) -> [EffectID] {
        guard let member = members[session] else { return [] }
        return owners.places(of: session, member.holding).compactMap { effects.keyIfTaken(at: $0) }.sorted()
    }

    /// The grants of a member's assignment, in the order of the effects.
    func grants(of session: SessionID, _ members: Members, _ journaled: JournaledState) -> [Grant] {
        effects(heldBy: session, members, journaled.effects).compactMap { effect in
            guard let place = journaled.effects.index(forKey: effect), let owner = owners[place] else { return nil }
            return Grant(effect, owner.attempt, journaled.effects[at: place], journaled.trace(ofEffect: effect))
        }
    }

    /// Adopts an attempt of an earlier epoch, which continues on its worker. A member cannot claim what it could not be
    /// granted. An attempt that no earlier epoch can have granted is refused, because its end would void all later ones.
    /// - Returns: whether the attempt was adopted.
    mutating func adopt(
        _ claim: ClaimedAttempt, by session: SessionID, _ members: inout Members, _ journaled: JournaledState,
        _ context: TurnContext
    ) -> Bool {
        guard let place = journaled.effects.index(forKey: claim.effect), owners[place] == nil,
            journaled.effects[at: place].isOpen, claim.attempt > journaled.effects[at: place].floor,
            claim.attempt <= JournaledState.allAttempts(before: journaled.epoch),
            let holder = members.index(forKey: session)
        else { return false }
        let (feedback, group) = (claim.effect.feedback, journaled.table.group(claim.effect.feedback))
        guard members[at: holder].serves(feedback, in: group) || context.breaks(.claimsAreOfServedGroups) else {
            return false
        }
        owners.give(
            place, to: Ownership(session: session, attempt: claim.attempt), &members[at: holder].holding)
        scheduler.adopt(
            at: place, of: claim.effect.feedback, group: journaled.effects[at: place].group,
            priority: journaled.priority(of: claim.effect, at: place))
        watchTimeout(of: claim.effect, at: place, claim.attempt, journaled.table, context)
        return true
    }

    /// Removes the owner of the effect at a place. The scheduler still knows the effect.
    /// - Returns: the old owner, if there was one.
    @discardableResult
    private mutating func release(_ place: Int, _ members: inout Members) -> Ownership? {
        guard let owner = owners[place], let holder = members.index(forKey: owner.session) else { return nil }
        owners.take(place, &members[at: holder].holding)
        return owner
    }

    /// Removes the effect at a place, which has completed, or is no longer wanted.
    /// - Returns: the owner, if there was one.
    @discardableResult
    mutating func remove(at place: Int, _ members: inout Members) -> Ownership? {
        scheduler.remove(at: place)
        return release(place, &members)
    }

    /// Counts an effect that has completed.
    mutating func countCompleted(_ effect: EffectID) { figures[Int(effect.feedback)].completed += 1 }

    // MARK: Ends of attempts

    /// Ends the current attempt of an effect, which waits again or is parked. The caller writes the record.
    /// - Parameter end: how the attempt ends.
    /// - Returns: the record, or nil if no member runs the effect.
    mutating func end(
        _ effect: EffectID, _ end: AttemptOutcome, _ members: inout Members, _ journaled: JournaledState,
        _ context: TurnContext
    ) -> AttemptEnd? {
        guard let place = journaled.effects.index(forKey: effect), let attempt = release(place, &members)?.attempt
        else {
            return nil
        }
        figures[Int(effect.feedback)].ends[end.cause, default: 0] += 1
        if let delay = end.retryIn {
            noteWait(at: place, context)
            let waits = delay > .zero && !context.breaks(.retriesWait)
            scheduler.requeue(at: place, notBefore: waits ? context.now.monotonic + delay : nil)
        } else {
            scheduler.remove(at: place)
        }
        return AttemptEnd(
            effect: effect, upTo: attempt, cause: end.cause,
            next: end.retryIn.map { .retry(RetryTime(after: $0, from: context.clock.wall(after: journaled.time))) }
                ?? .parked,
            message: end.message, entry: end.entry)
    }

    /// What follows the failure of an effect.
    mutating func outcome(
        of failure: Failure, failures: UInt32, _ policy: EffectPolicy, entry: EntryNumber
    ) -> AttemptOutcome {
        let delay = policy.retry.delay(
            afterFailures: Int(failures) + 1, isFinal: failure.isFinal, atLeast: failure.retryAfter, random: &random)
        let message = EffectFailure(.failed, message: failure.message).message
        return AttemptOutcome(.failed, retryIn: delay, message: message, entry: entry)
    }

    /// The next attempt that has taken too long, or nil if there is none. The caller ends it.
    mutating func nextTimedOut(_ effects: HashTable<EffectID, LiveEffect>, at now: MonotonicTime) -> AttemptDeadline? {
        timeoutAwaitsTurn = false
        while let first = deadlines.top, first.time <= now {
            deadlines.pop()
            if owners[first.place]?.attempt == first.attempt, effects.has(first.effect, at: first.place) {
                return first
            }
        }
        return nil
    }

    /// What follows the timeout of an effect.
    mutating func outcomeOfTimeout(failures: UInt32, _ policy: EffectPolicy) -> AttemptOutcome {
        let delay = policy.retry.delay(afterFailures: Int(failures) + 1, random: &random)
        let failure = EffectFailure.timedOut(limit: policy.timeout ?? .zero)
        return AttemptOutcome(.timedOut, retryIn: delay, message: failure.message)
    }

    /// Puts back an attempt that has taken too long, because it waits for its own turn.
    mutating func awaitTurn(_ late: AttemptDeadline) {
        deadlines.push(late)
        timeoutAwaitsTurn = true
    }

    private mutating func watchTimeout(
        of effect: EffectID, at place: Int, _ attempt: Attempt, _ table: FeedbackTable, _ context: TurnContext
    ) {
        guard let timeout = table[effect.feedback]?.policy.timeout else { return }
        if deadlines.isBloated(live: owners.count) {
            let owners = owners
            deadlines.compact { owners[$0.place]?.attempt == $0.attempt }
        }
        deadlines.push(
            AttemptDeadline(
                time: context.now.monotonic + timeout, effect: effect, place: place, attempt: attempt))
    }

    // MARK: Grants

    /// Grants effects to members with free capacity, first to those with the smallest share in use.
    /// - Returns: the record of the grants, which must be in the journal before they leave, or nil if nothing was granted.
    @discardableResult
    mutating func grant(
        to members: inout Members, _ journaled: JournaledState, _ context: TurnContext
    ) -> GrantRecord? {
        let now = context.now.monotonic
        // Most waiting effects wait for a time. Free capacity is computed only if something may start.
        guard scheduler.waitingCount > 0, scheduler.mayStart(at: now) else { return nil }
        var granted = GrantRecord(
            first: Attempt(epoch: journaled.epoch.number, count: grantsCount + 1), effects: [])
        var free = FreeCapacity(members, window: context.inboxWindow, table: journaled.table, at: now)
        while let place = scheduler.next(at: now, where: { free.hasCapacity(for: $0) }) {
            guard let effect = journaled.effects.keyIfTaken(at: place), owners[place] == nil,
                let taker = free.take(effect.feedback)
            else {
                scheduler.remove(at: place)
                continue
            }
            grantsCount += 1
            if journaled.effects[at: place].failures == 0, let since = beganToWait(at: place) {
                figures[Int(effect.feedback)].waits.note(from: since, to: now)
            }
            let attempt =
                context.breaks(.attemptsAreUnique)
                ? Attempt(epoch: 1, count: journaled.effects[at: place].floor.count &+ 1)
                : Attempt(epoch: journaled.epoch.number, count: grantsCount)
            owners.give(
                place, to: Ownership(session: taker.session, attempt: attempt), &members[at: taker.index].holding)
            let grant = Grant(
                effect, attempt, journaled.effects[at: place], journaled.trace(ofEffect: effect))
            members[at: taker.index].take(.start(grant))
            watchTimeout(of: effect, at: place, attempt, journaled.table, context)
            granted.effects.append(effect)
        }
        return granted.effects.isEmpty ? nil : granted
    }

    // MARK: Deadlines

    /// The time at which the next effect that waits for a time may start.
    func startDeadline(after now: MonotonicTime) -> MonotonicTime? { scheduler.deadline(after: now) }

    /// The time at which the next attempt has taken too long.
    var attemptDeadline: MonotonicTime? { deadlines.top?.time }
}

extension Grant {
    fileprivate init(_ effect: EffectID, _ attempt: Attempt, _ live: LiveEffect, _ trace: TraceContext?) {
        self.init(
            effect: effect, attempt: attempt, version: live.version, failures: live.failures,
            isResumed: live.wasGranted, request: live.request, trace: trace)
    }
}

/// How an attempt has ended.
struct AttemptOutcome: Equatable, Sendable {
    var cause: AttemptEnd.Cause
    /// How long the effect waits until the next attempt, or nil if this was the last one.
    var retryIn: Duration?
    var message: String
    /// The entry that reports the end, or nil if the reducer itself ends the attempt.
    var entry: EntryNumber?

    init(_ cause: AttemptEnd.Cause, retryIn: Duration? = .zero, message: String = "", entry: EntryNumber? = nil) {
        self.cause = cause
        self.retryIn = retryIn
        self.message = message
        self.entry = entry
    }

    /// The failure as the definition sees it if it is the last one.
    var failure: EffectFailure { EffectFailure(cause == .timedOut ? .timedOut : .failed, message: message) }
}

/// The time at which an attempt has taken too long. It is stale once the effect has another attempt.
struct AttemptDeadline: Comparable, Sendable {
    let time: MonotonicTime
    let effect: EffectID
    /// The place of the effect among the live ones.
    let place: Int
    let attempt: Attempt

    static func < (a: AttemptDeadline, b: AttemptDeadline) -> Bool { a.time < b.time }
}
