import LoopCollections
import LoopCore
import LoopWire

/// Who runs what: grants, leases, retries, timeouts. (Protocol, sections 4 to 6.)
extension ReducerCore {
    /// An effect waits for a worker, unless it is parked from the start.
    mutating func schedule(_ effect: EffectID) {
        if let place = core.effects.index(forKey: effect) { schedule(effect, at: place) }
    }

    /// The same for an effect whose place is known.
    mutating func schedule(_ effect: EffectID, at place: Int) {
        guard core.effects[at: place].isOpen else { return }
        let retryAt = core.effects[at: place].retryAt
        scheduler.add(
            at: place, of: effect.feedback, group: core.effects[at: place].group,
            notBefore: retryAt.flatMap { notBefore($0) })
    }

    private func notBefore(_ time: WallTime) -> MonotonicTime? {
        // A clock that was set back must not make the wait longer than it was meant to be.
        let wall = max(now.wall, core.time)
        guard time > wall, !breaks(.retriesWait) else { return nil }
        return now.monotonic + .milliseconds(time.milliseconds - wall.milliseconds)
    }

    /// Hands effects to members with room, those with the smallest share in use first.
    mutating func grant() {
        // Most of what waits, waits for time: who has room is worked out only where something may start.
        guard scheduler.waitingCount > 0, scheduler.mayStart(at: now.monotonic) else { return }
        var free = FreeCapacity(members: members, window: inboxWindow, table: core.table, at: now.monotonic)
        while let live = scheduler.next(at: now.monotonic, where: { free.hasCapacity(for: $0) }) {
            guard let effect = core.effects.keyIfTaken(at: live), owners[live] == nil,
                let taker = free.take(effect.feedback)
            else {
                scheduler.remove(at: live)
                continue
            }
            anticipateGrants()
            grantsCount += 1
            let attempt =
                breaks(.attemptsAreUnique)
                ? Attempt(epoch: 1, count: core.effects[at: live].floor.count &+ 1)
                : Attempt(epoch: core.epoch.number, count: grantsCount)
            owners.give(
                live, to: Ownership(session: taker.session, attempt: attempt), &members.values[taker.index].holding)
            // Where it lies: the start is written from it, and nothing of it is held.
            lend(core.effects.pointer(at: live)) { live in
                members.values[taker.index].start(
                    effect, attempt, version: live.version, failures: live.failures, isResumed: live.wasGranted,
                    request: live.request)
            }
            watchTimeout(of: effect, at: live, attempt)
        }
    }

    func grantMessage(_ effect: EffectID, _ attempt: Attempt, _ live: LiveEffect) -> Grant {
        Grant(
            effect: effect, attempt: attempt, version: live.version, failures: live.failures,
            isResumed: live.wasGranted, request: live.request)
    }

    mutating func watchTimeout(of effect: EffectID, at place: Int, _ attempt: Attempt) {
        guard let timeout = core.feedback(of: effect)?.policy.timeout else { return }
        if timeouts.isBloated(live: owners.count) {
            let owners = owners
            timeouts.compact { owners[$0.place]?.attempt == $0.attempt }
        }
        timeouts.push(
            AttemptDeadline(time: now.monotonic + timeout, effect: effect, place: place, attempt: attempt))
    }

    /// Nobody owns the effect at a place any more.
    /// - Returns: who did.
    @discardableResult
    mutating func letGo(_ place: Int) -> Ownership? {
        guard let owner = owners[place], let holder = members.index(forKey: owner.session) else { return nil }
        owners.take(place, &members.values[holder].holding)
        return owner
    }

    /// What a member holds, in the order of the effects.
    func effects(heldBy member: Member, _ session: SessionID) -> [EffectID] {
        owners.places(of: session, member.holding).compactMap { core.effects.keyIfTaken(at: $0) }.sorted()
    }

    /// Ends the current attempt of an effect, by record, and lets it wait again or parks it.
    /// - Parameter delay: until the next try; nil parks the effect.
    mutating func end(
        _ effect: EffectID, _ cause: AttemptEnd.Cause, retryIn delay: Duration?, message: String, failed: Bool,
        entry: EntryNumber? = nil
    ) {
        guard let place = core.effects.index(forKey: effect), let attempt = letGo(place)?.attempt else { return }
        if breaks(.voidsAreDurable) && entry == nil {
            core.voidWithoutRecord(effect, upTo: attempt)
        } else {
            write(
                .attemptEnded(
                    AttemptEnd(
                        effect: effect, upTo: attempt, cause: cause,
                        next: delay.map { .retry(max(now.wall, core.time) + $0) } ?? .parked, message: message,
                        entry: entry)))
        }
        if let delay {
            scheduler.requeue(
                at: place, notBefore: delay > .zero && !breaks(.retriesWait) ? now.monotonic + delay : nil)
        } else {
            count(.effectParked)
            scheduler.remove(at: place)
        }
    }

    mutating func endTimedOutAttempts() {
        while let first = timeouts.top, first.time <= now.monotonic {
            timeouts.pop()
            let (effect, attempt) = (first.effect, first.attempt)
            guard let owner = owners[first.place], owner.attempt == attempt, core.effects.has(effect, at: first.place)
            else { continue }
            count(.effectTimedOut)
            let policy = policy(of: effect)
            let failures = Int(core.effects[at: first.place].failures) + 1
            let delay = policy.retry.delay(afterFailures: failures, random: &random)
            let limit = policy.timeout.map { "\($0)" } ?? ""
            end(effect, .timedOut, retryIn: delay, message: "no end within \(limit)", failed: true)
            if !breaks(.timedOutWorkersAreTold) { command(.cancel(effect, attempt), to: owner.session) }
        }
    }
}

/// How much each member can still take, during one round of grants.
private struct FreeCapacity {
    typealias Taker = (session: SessionID, index: Dictionary<SessionID, Member>.Index)

    private struct Place {
        let taker: Taker
        let groups: [String]
        let feedbacks: Set<UInt32>?
        let capacity: Int
        var used: Int
        /// Of its capacity, in use.
        var share: Double

        mutating func take() {
            used += 1
            share = Double(used) / Double(capacity)
        }
    }

    private var places: [Place] = []
    /// The places that can hold effects of a feedback, by its number, once somebody has asked.
    private var able = HashTable<UInt32, [Int]>()
    /// The answer to the last question for room, until somebody takes it.
    private var found: (feedback: UInt32, place: Int)?
    private let table: FeedbackTable

    init(members: [SessionID: Member], window: UInt64, table: FeedbackTable, at now: MonotonicTime) {
        self.table = table
        for session in members.keys.sorted() {
            guard let index = members.index(forKey: session) else { continue }
            let member = members.values[index]
            guard member.hasJoined, member.leaseEnds > now, member.holding.count < member.capacity,
                member.number - member.applied < window, !member.needsAssignments
            else { continue }
            places.append(
                Place(
                    taker: (session, index), groups: member.groups, feedbacks: member.feedbacks,
                    capacity: member.capacity,
                    used: member.holding.count, share: Double(member.holding.count) / Double(member.capacity)))
        }
    }

    private mutating func able(_ feedback: UInt32) -> Int {
        if let known = able.find(feedback, UInt64(feedback)) { return known }
        let group = table.group(feedback)
        let found = places.indices.filter {
            places[$0].groups.contains(group) && places[$0].feedbacks?.contains(feedback) ?? true
        }
        return able.insert(feedback, found, UInt64(feedback))
    }

    /// Where the share in use is the smallest, the first of several.
    private mutating func best(for feedback: UInt32) -> Int? {
        let able = able(feedback)
        var best: Int?
        for place in self.able[at: able] where places[place].used < places[place].capacity {
            if best.map({ places[place].share < places[$0].share }) ?? true { best = place }
        }
        return best
    }

    mutating func hasCapacity(for feedback: UInt32) -> Bool {
        found = best(for: feedback).map { (feedback, $0) }
        return found != nil
    }

    /// The member of the feedback's group with the smallest share of its capacity in use; it holds one more from here on.
    mutating func take(_ feedback: UInt32) -> Taker? {
        let known = found.take()
        guard let best = known?.feedback == feedback ? known?.place : best(for: feedback) else { return nil }
        places[best].take()
        return places[best].taker
    }
}
