import LoopCollections

/// Decides which waiting effect may start next, within the concurrency and rate limits of its feedback and its group.
///
/// A pure value: time comes in as an argument, and whether there is a place to run comes in as `canPlace`. Within a
/// feedback effects start in the order in which they were added, a retried one goes to the back, and a group at its
/// limit does not delay other groups. A priority counts like so much waiting (`priorityStep`). Where shares are fair, the group
/// that runs the fewest effects starts the next, and of several the one that has not started any for the longest.
/// Between feedbacks the turn rotates. Rate limits are token buckets, all empty when the
/// scheduler begins, which is at its first `next`: a restart gives no burst.
///
/// Effects are known by their places in a table that their owner has, one effect at a place: so that who has found an effect
/// there finds it here without a search. Every operation costs O(log n) in the waiting effects, amortized, and O(f) in the
/// feedbacks for `next`.
package struct PlacedScheduler: Sendable {
    private var lanes: [SchedulerLane] = []
    private var numbers: [UInt32] = []
    /// Of the lane of each feedback number, which is its own hash.
    private var positions = HashTable<UInt32, Int>()
    private var entries = SchedulerEntries()
    /// The lane that is asked first.
    private var turn = 0
    /// Numbers the additions, so that order does not depend on time.
    private var ticket: UInt64 = 1 << 32
    /// Numbers the additions that come before all others.
    private var firstTicket: UInt64 = 0

    /// - Parameter policies: by feedback number. A feedback without one has no limits.
    package init(policies: [UInt32: EffectPolicy]) {
        for number in policies.keys.sorted() { makeLane(number, policies[number] ?? EffectPolicy()) }
    }

    /// The number of effects that wait to be started.
    package var waitingCount: Int { lanes.reduce(0) { $0 + $1.waitingCount } }

    /// The number of effects of a feedback that wait to be started.
    package func waitingCount(of feedback: UInt32) -> Int {
        positions.find(feedback, UInt64(feedback)).map { lanes[positions[at: $0]].waitingCount } ?? 0
    }

    /// The number of effects that run.
    package var runningCount: Int { lanes.reduce(0) { $0 + $1.runningCount } }

    /// The number of groups that are remembered: those with effects, and those whose buckets are still filling.
    package var groupCount: Int { lanes.reduce(0) { $0 + $1.groupCount } }

    /// The number of times that groups wait for, with those for which no group waits any more.
    package var groupTimesCount: Int { lanes.reduce(0) { $0 + $1.groupTimesCount } }

    /// The effect waits to be started. Ignored when it waits or runs already.
    /// - Parameters:
    ///   - feedback: the number of its feedback.
    ///   - group: the group whose limits and share it counts for; nil: no group limits it.
    ///   - priority: the greater, the sooner; of no effect where the policy has no `priorityStep`.
    ///   - notBefore: the earliest start; nil: at once.
    ///   - isFirst: whether it comes before all effects that were added without this flag, and after those with it.
    package mutating func add(
        at place: Int, of feedback: UInt32, group: String?, priority: Int32 = 0, notBefore: MonotonicTime? = nil,
        isFirst: Bool = false
    ) {
        let place = Int32(place)
        guard entries[place] == nil else { return }
        let lane = lane(of: feedback)
        if isFirst { firstTicket += 1 }
        let ticket = isFirst ? firstTicket : nextTicket()
        let new = SchedulerLane.Arrival(place: place, lane: Int32(lane), ticket: ticket, priority: priority)
        lanes[lane].add(new, group: group, notBefore: notBefore, &entries)
    }

    /// The effect at a place has this priority from here on. While it waits, the time that it has waited still counts. Unknown
    /// effects are ignored.
    package mutating func prioritize(at place: Int, _ priority: Int32) {
        let place = Int32(place)
        guard let entry = entries[place], entry.priority != priority else { return }
        lanes[Int(entry.lane)].prioritize(at: place, priority, ticket: nextTicket(), &entries)
    }

    /// Whether `next` would find an effect, were there places for all.
    package mutating func mayStart(at now: MonotonicTime) -> Bool {
        var mayStart = false
        for position in lanes.indices {
            lanes[position].advance(to: now, &entries)
            if lanes[position].canStart(at: now) { mayStart = true }
        }
        return mayStart
    }

    /// The place of the next effect that may start now, which counts as running from here on; nil: none may.
    /// - Parameter canPlace: whether there is a place for an effect of this feedback number; asked at most once for
    ///   each feedback, and only for one that has an effect to start.
    package mutating func next(at now: MonotonicTime, where canPlace: (UInt32) -> Bool) -> Int? {
        for position in lanes.indices { lanes[position].advance(to: now, &entries) }
        var position = turn
        for _ in lanes.indices {
            if position >= lanes.count { position = 0 }
            defer { position += 1 }
            guard lanes[position].canStart(at: now), canPlace(numbers[position]) else { continue }
            guard let place = lanes[position].start(at: now, &entries) else { continue }
            turn = position + 1 < lanes.count ? position + 1 : 0
            return Int(place)
        }
        return nil
    }

    /// An effect is no more, whether it waited or ran: completed, cancelled or parked. Unknown ones are ignored.
    package mutating func remove(at place: Int) {
        let place = Int32(place)
        guard let lane = entries[place]?.lane else { return }
        lanes[Int(lane)].remove(at: place, &entries)
    }

    /// An effect's attempt has ended and it waits again, behind those that wait already. Unknown ones are ignored.
    package mutating func requeue(at place: Int, notBefore: MonotonicTime?) {
        let place = Int32(place)
        guard let entry = entries[place] else { return }
        let again = SchedulerLane.Arrival(
            place: place, lane: entry.lane, ticket: nextTicket(), priority: entry.priority)
        lanes[Int(entry.lane)].requeue(again, notBefore: notBefore, &entries)
    }

    /// Adopts an effect that already runs: it counts against the limits from here on, also above them.
    package mutating func adopt(at place: Int, of feedback: UInt32, group: String?, priority: Int32 = 0) {
        let lane = lane(of: feedback)
        let new = SchedulerLane.Arrival(
            place: Int32(place), lane: Int32(lane), ticket: nextTicket(), priority: priority)
        lanes[lane].adopt(new, group: group, &entries)
    }

    /// The earliest time, not before `now`, at which `next` may find something that waits for time alone (a delay, a
    /// rate); nil: nothing does. Holds after a `next` that found nothing.
    package func deadline(after now: MonotonicTime) -> MonotonicTime? {
        lanes.compactMap { $0.deadline(after: now) }.min()
    }

    /// The place of an effect that will most likely start after this many others; nil: none is known to.
    package func place(after distance: Int) -> Int? {
        // Where several feedbacks wait, their turns rotate; then this is a guess that fetches too much or too little.
        lanes.isEmpty ? nil : lanes[turn < lanes.count ? turn : 0].place(after: distance).map { Int($0) }
    }

    /// Fetches what is known of the effect at a place into the processor's cache.
    package func fetch(_ place: Int) { entries.fetch(place) }

    private mutating func nextTicket() -> UInt64 {
        ticket += 1
        return ticket
    }

    private mutating func lane(of feedback: UInt32) -> Int {
        if let known = positions.find(feedback, UInt64(feedback)) { return positions[at: known] }
        return makeLane(feedback, EffectPolicy())
    }

    @discardableResult
    private mutating func makeLane(_ number: UInt32, _ policy: EffectPolicy) -> Int {
        positions.insert(number, lanes.count, UInt64(number))
        numbers.append(number)
        lanes.append(SchedulerLane(policy: policy))
        return lanes.count - 1
    }
}
