import LoopCore
import LoopWire

/// Who runs what: grants, leases, retries, timeouts. (Protocol, sections 4 to 6.)
extension ReducerCore {
    /// An effect waits for a worker, unless it is parked from the start.
    mutating func schedule(_ effect: EffectID) {
        guard let live = core.effects[effect], live.status == .open else { return }
        scheduler.add(effect, group: live.group, notBefore: notBefore(live))
    }

    private func notBefore(_ effect: LiveEffect) -> MonotonicTime? {
        // A clock that was set back must not make the wait longer than it was meant to be.
        let wall = max(now.wall, core.time)
        guard let time = effect.retryAt, time > wall else { return nil }
        return now.monotonic + .milliseconds(time.milliseconds - wall.milliseconds)
    }

    /// Hands effects to members with room, those with the smallest share in use first.
    mutating func grant() {
        guard scheduler.waitingCount > 0 else { return }
        // Most of what waits, waits for time: who has room is worked out only where something may start.
        var found: Room?
        let (table, members, now) = (core.table, members, now.monotonic)
        let window = inboxWindow
        func hasRoom(_ feedback: UInt32) -> Bool {
            let room = found ?? Room(members: members, window: window, at: now)
            found = room
            return room.hasRoom(for: feedback, in: table.group(feedback))
        }
        while let effect = scheduler.next(at: now, where: hasRoom) {
            guard let session = found?.take(effect.feedback, in: table.group(effect.feedback)),
                let live = core.effects[effect]
            else {
                scheduler.remove(effect)
                continue
            }
            grantsCount += 1
            let attempt =
                breaks(.attemptsAreUnique)
                ? Attempt(epoch: 1, count: live.floor.count &+ 1)
                : Attempt(epoch: core.epoch.number, count: grantsCount)
            owners[effect] = Ownership(session: session, attempt: attempt)
            self.members[session]?.effects.insert(effect)
            command(.start(grantMessage(effect, attempt, live)), to: session)
            watchTimeout(of: effect, attempt)
        }
    }

    func grantMessage(_ effect: EffectID, _ attempt: Attempt, _ live: LiveEffect) -> Grant {
        Grant(
            effect: effect, attempt: attempt, version: live.version, failures: live.failures,
            isResumed: live.wasGranted, request: live.request)
    }

    mutating func watchTimeout(of effect: EffectID, _ attempt: Attempt) {
        guard let timeout = policy(of: effect).timeout else { return }
        timeouts.push(AttemptDeadline(time: now.monotonic + timeout, effect: effect, attempt: attempt))
    }

    /// Nobody owns the effect any more.
    mutating func letGo(_ effect: EffectID) {
        guard let owner = owners.removeValue(forKey: effect) else { return }
        members[owner.session]?.effects.remove(effect)
    }

    /// Ends the current attempt of an effect, by record, and lets it wait again or parks it.
    /// - Parameter delay: until the next try; nil parks the effect.
    mutating func end(
        _ effect: EffectID, _ cause: AttemptEnd.Cause, retryIn delay: Duration?, message: String, failed: Bool,
        entry: EntryNumber? = nil
    ) {
        guard let attempt = owners[effect]?.attempt else { return }
        letGo(effect)
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
            scheduler.requeue(effect, notBefore: delay > .zero ? now.monotonic + delay : nil)
        } else {
            count(.effectParked)
            scheduler.remove(effect)
        }
    }

    mutating func endTimedOutAttempts() {
        while let first = timeouts.top, first.time <= now.monotonic {
            timeouts.pop()
            let (effect, attempt) = (first.effect, first.attempt)
            guard let owner = owners[effect], owner.attempt == attempt, let live = core.effects[effect] else {
                continue
            }
            count(.effectTimedOut)
            let policy = policy(of: effect)
            let delay = policy.retry.delay(afterFailures: Int(live.failures) + 1, random: &random)
            let limit = policy.timeout.map { "\($0)" } ?? ""
            end(effect, .timedOut, retryIn: delay, message: "no end within \(limit)", failed: true)
            command(.cancel(effect, attempt), to: owner.session)
        }
    }

    /// After a restart: effects that nobody claimed in time are given to others.
    mutating func endGrace() {
        guard !unclaimed.isEmpty, awaited.isEmpty || now.monotonic >= graceEnds else { return }
        for effect in unclaimed.sorted() {
            guard let live = core.effects[effect] else { continue }
            let upTo = JournaledCore.allAttempts(before: core.epoch)
            if breaks(.voidsAreDurable) {
                core.voidWithoutRecord(effect, upTo: upTo)
            } else {
                write(
                    .attemptEnded(
                        AttemptEnd(
                            effect: effect, upTo: upTo, cause: .unclaimed, next: .retry(live.retryAt ?? now.wall))))
            }
            schedule(effect)
        }
        unclaimed.removeAll()
    }

    /// An expired lease may be taken away; it is void from its record on. Where nobody else can run the effect, the
    /// old attempt stays valid.
    mutating func takeFromTheSilent() {
        let time = now.monotonic
        guard members.values.contains(where: { !$0.effects.isEmpty && $0.leaseEnds <= time }) else { return }
        for session in members.keys.sorted() {
            guard let member = members[session], !member.effects.isEmpty, member.leaseEnds <= time else {
                continue
            }
            for effect in member.effects.sorted() {
                let group = core.table.group(effect.feedback)
                guard let attempt = owners[effect]?.attempt,
                    members.contains(where: {
                        $0.key != session && $0.value.canHold(effect.feedback, in: group, at: time)
                    })
                else { continue }
                count(.leaseExpired)
                end(effect, .unresponsive, retryIn: .zero, message: "", failed: false)
                command(.cancel(effect, attempt), to: session)
            }
        }
    }

    mutating func extendLeases(by gap: Duration) {
        for session in members.keys {
            guard let ends = members[session]?.leaseEnds else { continue }
            members[session]?.leaseEnds = ends + gap
        }
        if !unclaimed.isEmpty { graceEnds = graceEnds + gap }
    }

    /// Sessions without effects whose peer was not heard of for long, also those that never greeted in this epoch.
    mutating func retireSessions() {
        let retention = configuration.sessionRetention
        guard now.monotonic - startedAt > retention else { return }
        for session in core.sessions.keys.sorted() {
            let member = members[session]
            guard now.monotonic - (member?.heardAt ?? startedAt) > retention, member?.effects.isEmpty ?? true else {
                continue
            }
            members[session] = nil
            awaited.remove(session)
            write(.sessionRetired(session))
        }
    }
}

/// How much each member can still take, during one round of grants.
private struct Room {
    private struct Place {
        let session: SessionID
        let capacity: Int
        let feedbacks: Set<UInt32>?
    }

    private var places: [String: [Place]] = [:]
    private var used: [SessionID: Int] = [:]

    init(members: [SessionID: Member], window: UInt64, at now: MonotonicTime) {
        for session in members.keys.sorted() {
            guard let member = members[session], member.hasJoined, member.leaseEnds > now,
                member.effects.count < member.capacity, member.number - member.applied < window,
                !member.needsAssignments
            else { continue }
            used[session] = member.effects.count
            for group in member.groups {
                places[group, default: []].append(
                    Place(session: session, capacity: member.capacity, feedbacks: member.feedbacks))
            }
        }
    }

    func hasRoom(for feedback: UInt32, in group: String) -> Bool {
        places[group]?.contains { (used[$0.session] ?? 0) < $0.capacity && $0.feedbacks?.contains(feedback) ?? true }
            ?? false
    }

    /// The member of the group with the smallest share of its capacity in use; it holds one more from here on.
    mutating func take(_ feedback: UInt32, in group: String) -> SessionID? {
        var best: (session: SessionID, share: Double)?
        for place in places[group] ?? [] {
            let held = used[place.session] ?? 0
            guard held < place.capacity, place.feedbacks?.contains(feedback) ?? true else { continue }
            let share = Double(held) / Double(place.capacity)
            if best.map({ share < $0.share }) ?? true { best = (place.session, share) }
        }
        if let best { used[best.session, default: 0] += 1 }
        return best?.session
    }
}
