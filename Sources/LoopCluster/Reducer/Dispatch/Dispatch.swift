import LoopCollections
import LoopCore
import LoopWire

/// One table of the live effects: the owner of each, and its place in the schedule. (Protocol, sections 4 to 6.)
///
///     waiting ── grant ──▶ owned ── completed, cancelled ──▶ gone
///        ▲                   │
///        └── retry ── end ───┴── parked ──▶ gone, until an operator lets it wait again
///
/// Effects are known by their places among the live ones, so that an effect that was found there is found here without a search.
/// What happens is decided here; the records that say so are written by the core.
struct Dispatch: Sendable {
    private(set) var owners = OwnerTable()
    private(set) var scheduler = PlacedScheduler(policies: [:])
    private var deadlines = BinaryHeap<AttemptDeadline>()
    /// An attempt that has taken too long is a suspect, and waits for a turn of its own.
    private(set) var timeoutAwaitsTurn = false
    var stranded = Stranded()
    var progress = ProgressTable()
    /// How many attempts were granted in this epoch; the newest has this number.
    private var grantsCount: UInt64 = 0
    private var random: SeededRandom

    /// - Parameter seed: of the jitter in delays.
    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// An epoch begins with a definition's policies, and without owners.
    mutating func begin(_ policies: [UInt32: EffectPolicy]) { scheduler = PlacedScheduler(policies: policies) }

    /// A new history begins: nothing is owned or waits, and attempts are counted from the first.
    mutating func beginHistory(_ effects: HashTable<EffectID, LiveEffect>) {
        for (place, _) in effects.places { scheduler.remove(at: place) }
        owners.removeAll()
        deadlines = BinaryHeap()
        grantsCount = 0
    }

    /// The loop has ended: no attempt may commit any more.
    mutating func releaseAll() { owners.removeAll() }

    // MARK: Waiting

    /// The effect at a place waits for a worker, unless it is parked from the start.
    /// - Parameter isFirst: whether it comes before all effects that wait already.
    /// - Returns: whether it waits.
    @discardableResult
    mutating func schedule(
        _ effect: EffectID, at place: Int, isFirst: Bool = false, _ journaled: JournaledCore, _ context: TurnContext
    ) -> Bool {
        guard journaled.effects[at: place].isOpen else { return false }
        let retry = journaled.effects[at: place].retry
        scheduler.add(
            at: place, of: effect.feedback, group: journaled.effects[at: place].group,
            priority: journaled.priority(of: effect, at: place),
            notBefore: retry.flatMap { Self.notBefore($0, journaled, context) }, isFirst: isFirst)
        return true
    }

    /// The request of the effect at a place has changed, and its priority may have with it.
    mutating func prioritize(_ effect: EffectID, at place: Int, _ journaled: JournaledCore) {
        scheduler.prioritize(at: place, journaled.priority(of: effect, at: place))
    }

    private static func notBefore(
        _ retry: RetryTime, _ journaled: JournaledCore, _ context: TurnContext
    ) -> MonotonicTime? {
        let wait = retry.wait(from: context.clock.wall(after: journaled.time))
        guard wait > .zero, !context.breaks(.retriesWait) else { return nil }
        return context.now.monotonic + wait
    }

    // MARK: Owners

    /// The session and the attempt that run the effect at a place; nil: none do.
    func owner(at place: Int) -> Ownership? { owners[place] }

    /// Whether the effect at a place may be spoken for.
    func owns(_ session: SessionID, _ attempt: Attempt, _ place: Int) -> Bool {
        guard let owner = owners[place] else { return false }
        return owner.attempt == attempt && owner.session == session
    }

    /// Whether an entry that came too late voids its attempt: only one that this reducer can have granted, and none from the one
    /// on that holds the effect, for voids reach down to all earlier attempts.
    func mayVoid(_ attempt: Attempt, of effect: EffectID?, _ journaled: JournaledCore, _ rules: BrokenRules) -> Bool {
        guard attempt <= Attempt(epoch: journaled.epoch.number, count: grantsCount) else { return false }
        let place = effect.flatMap { journaled.effects.index(forKey: $0) }
        guard let holder = place.flatMap({ owners[$0] })?.attempt else { return true }
        return rules.contains(.refusalsSpareTheOwner) ? attempt != holder : attempt < holder
    }

    /// What a member holds, in the order of the effects.
    func effects(
        heldBy session: SessionID, _ members: Members, _ effects: HashTable<EffectID, LiveEffect>
    ) -> [EffectID] {
        guard let member = members[session] else { return [] }
        return owners.places(of: session, member.holding).compactMap { effects.keyIfTaken(at: $0) }.sorted()
    }

    /// What a member's assignment says, in the order of the effects.
    func grants(of session: SessionID, _ members: Members, _ effects: HashTable<EffectID, LiveEffect>) -> [Grant] {
        self.effects(heldBy: session, members, effects).compactMap { effect in
            guard let place = effects.index(forKey: effect), let owner = owners[place] else { return nil }
            let live = effects[at: place]
            return Grant(
                effect: effect, attempt: owner.attempt, version: live.version, failures: live.failures,
                isResumed: live.wasGranted, request: live.request)
        }
    }

    /// An attempt that runs since before this epoch goes on where it runs. What a member could not be granted it cannot claim, and an
    /// attempt that no earlier epoch can have granted is none: its end would void all later ones.
    /// - Returns: whether it may.
    mutating func adopt(
        _ claim: ClaimedAttempt, by session: SessionID, _ members: inout Members, _ journaled: JournaledCore,
        _ context: TurnContext
    ) -> Bool {
        guard let place = journaled.effects.index(forKey: claim.effect), owners[place] == nil,
            journaled.effects[at: place].isOpen, claim.attempt > journaled.effects[at: place].floor,
            claim.attempt <= JournaledCore.allAttempts(before: journaled.epoch),
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

    /// No member runs the effect at a place any more; it is still known to the schedule.
    /// - Returns: who did.
    @discardableResult
    private mutating func release(_ place: Int, _ members: inout Members) -> Ownership? {
        guard let owner = owners[place], let holder = members.index(forKey: owner.session) else { return nil }
        owners.take(place, &members[at: holder].holding)
        return owner
    }

    /// The effect at a place has completed, or is no longer wanted.
    /// - Returns: who ran it.
    @discardableResult
    mutating func remove(at place: Int, _ members: inout Members) -> Ownership? {
        scheduler.remove(at: place)
        return release(place, &members)
    }

    // MARK: Ends of attempts

    /// Ends the current attempt of an effect, which waits again or is parked. The record that says so is to be written.
    /// - Parameter end: how it ends.
    /// - Returns: nil: no member runs it.
    mutating func end(
        _ effect: EffectID, _ end: AttemptOutcome, _ members: inout Members, _ journaled: JournaledCore,
        _ context: TurnContext
    ) -> AttemptEnd? {
        guard let place = journaled.effects.index(forKey: effect), let attempt = release(place, &members)?.attempt
        else {
            return nil
        }
        if let delay = end.retryIn {
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

    /// How a failed effect goes on.
    mutating func outcome(
        of failure: Failure, failures: UInt32, _ policy: EffectPolicy, entry: EntryNumber
    ) -> AttemptOutcome {
        var delay = policy.retry.delay(afterFailures: Int(failures) + 1, random: &random)
        if failure.isFinal { delay = nil }
        if let asked = failure.retryAfter, let own = delay { delay = max(own, asked) }
        let message = EffectFailure(.failed, message: failure.message).message
        return AttemptOutcome(.failed, retryIn: delay, message: message, entry: entry)
    }

    /// An attempt that has taken too long; nil: there is none. It is to be ended.
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

    /// How an effect goes on whose attempt has taken too long.
    mutating func outcomeOfTimeout(failures: UInt32, _ policy: EffectPolicy) -> AttemptOutcome {
        let delay = policy.retry.delay(afterFailures: Int(failures) + 1, random: &random)
        let failure = EffectFailure.timedOut(limit: policy.timeout ?? .zero)
        return AttemptOutcome(.timedOut, retryIn: delay, message: failure.message)
    }

    /// An attempt that has taken too long waits for a turn of its own.
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

    /// Hands effects to members with room, those with the smallest share in use first.
    /// - Returns: the record of the grants, which must be in the journal before they leave, or nil if nothing was granted.
    @discardableResult
    mutating func grant(
        to members: inout Members, _ journaled: JournaledCore, _ context: TurnContext
    ) -> GrantRecord? {
        let now = context.now.monotonic
        // Most of what waits, waits for time: who has room is worked out only where something may start.
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
            fetchNextGrants(journaled.effects)
            grantsCount += 1
            let attempt =
                context.breaks(.attemptsAreUnique)
                ? Attempt(epoch: 1, count: journaled.effects[at: place].floor.count &+ 1)
                : Attempt(epoch: journaled.epoch.number, count: grantsCount)
            owners.give(
                place, to: Ownership(session: taker.session, attempt: attempt), &members[at: taker.index].holding)
            // Where it lies: the start is written from it, and nothing of it is held.
            journaled.effects.read(at: place) { live in
                members[at: taker.index].start(
                    effect, attempt, version: live.version, failures: live.failures, isResumed: live.wasGranted,
                    request: live.request)
            }
            watchTimeout(of: effect, at: place, attempt, journaled.table, context)
            granted.effects.append(effect)
        }
        return granted.effects.isEmpty ? nil : granted
    }

    // MARK: Deadlines

    /// When an effect that waits for time may start.
    func startDeadline(after now: MonotonicTime) -> MonotonicTime? { scheduler.deadline(after: now) }

    /// When the next attempt has taken too long.
    var attemptDeadline: MonotonicTime? { deadlines.top?.time }
}

/// How an attempt has ended.
struct AttemptOutcome: Equatable, Sendable {
    var cause: AttemptEnd.Cause
    /// How long the effect waits until the next attempt, or nil if this was the last one.
    var retryIn: Duration?
    var message: String
    /// The entry that says so; nil: the reducer itself does.
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

/// When an attempt has taken too long; stale once the effect's attempt is another.
struct AttemptDeadline: Comparable, Sendable {
    let time: MonotonicTime
    let effect: EffectID
    /// Of the effect, among the live ones.
    let place: Int
    let attempt: Attempt

    static func < (a: AttemptDeadline, b: AttemptDeadline) -> Bool { a.time < b.time }
}
