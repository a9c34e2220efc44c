import LoopCollections

/// Decides which waiting effect may start next, within the concurrency and rate limits of its feedback and its group.
///
/// A pure value: the time is an argument, and `canPlace` says whether there is capacity. Within a feedback effects start in
/// the order in which they were added. A retried one goes to the back, and a group at its limit does not delay other
/// groups. A priority counts as waiting time (`priorityStep`). If shares are fair, the group that runs the fewest effects
/// starts the next, and among equals the one whose last start is the oldest. Feedbacks take turns. Rate limits are token
/// buckets, all empty at the first `next`, so that a restart gives no burst.
///
/// Effects are identified by their places in a table of their owner, one effect at a place, so that no search is needed
/// here. Every operation costs O(log n) in the waiting effects, amortized; `next` also costs O(f) in the feedbacks.
package struct PlacedScheduler: Sendable {
    private var lanes: [SchedulerLane] = []
    private var numbers: [UInt32] = []
    /// The position of the lane of each feedback number. A number is its own hash.
    private var positions = HashTable<UInt32, Int>()
    private var entries = SchedulerEntries()
    /// The lane that may start the next effect first.
    private var turn = 0
    /// The next ticket. Tickets number the additions, so that the order does not depend on time.
    private var ticket: UInt64 = 1 << 32
    /// The next ticket of effects that precede all others.
    private var firstTicket: UInt64 = 0

    /// Creates a scheduler.
    /// - Parameter policies: the policies by feedback number. A feedback without one has no limits.
    package init(policies: [UInt32: EffectPolicy]) {
        for number in policies.keys.sorted() { makeLane(number, policies[number] ?? EffectPolicy()) }
    }

    /// The number of waiting effects.
    package var waitingCount: Int { lanes.reduce(0) { $0 + $1.waitingCount } }

    /// The number of waiting effects of a feedback.
    package func waitingCount(of feedback: UInt32) -> Int {
        positions.find(feedback, UInt64(feedback)).map { lanes[positions[at: $0]].waitingCount } ?? 0
    }

    /// The number of running effects.
    package var runningCount: Int { lanes.reduce(0) { $0 + $1.runningCount } }

    /// The number of remembered groups: those with effects, and those whose buckets are still filling.
    package var groupCount: Int { lanes.reduce(0) { $0 + $1.groupCount } }

    /// The number of times for which groups wait, including those that are no longer needed.
    package var groupTimesCount: Int { lanes.reduce(0) { $0 + $1.groupTimesCount } }

    /// Adds a waiting effect. Ignored if it waits or runs already.
    /// - Parameters:
    ///   - feedback: the number of its feedback.
    ///   - group: the group whose limits and share it uses, or nil for none.
    ///   - priority: greater ones start sooner. Ignored if the policy has no `priorityStep`.
    ///   - notBefore: the earliest start, or nil for at once.
    ///   - isFirst: whether it precedes all effects that were added without this, and follows those with it.
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

    /// Changes the priority of the effect at a place. While it waits, the time that it has waited still counts. An unknown
    /// effect is ignored.
    package mutating func prioritize(at place: Int, _ priority: Int32) {
        let place = Int32(place)
        guard let entry = entries[place], entry.priority != priority else { return }
        lanes[Int(entry.lane)].prioritize(at: place, priority, ticket: nextTicket(), &entries)
    }

    /// Whether `next` would return an effect if every feedback had capacity.
    package mutating func mayStart(at now: MonotonicTime) -> Bool {
        var mayStart = false
        for position in lanes.indices {
            lanes[position].advance(to: now, &entries)
            if lanes[position].canStart(at: now) { mayStart = true }
        }
        return mayStart
    }

    /// Starts the next effect that may start now and returns its place, or nil if none may. From then on it counts as running.
    /// - Parameter canPlace: whether there is capacity for an effect of this feedback number. It is called at most once for
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

    /// What keeps the effect at a place from being the next, besides capacity and its order in line; nil if nothing does, or
    /// if it does not wait.
    package func obstacle(at place: Int, _ now: MonotonicTime) -> SchedulerObstacle? {
        entries[Int32(place)].flatMap { lanes[Int($0.lane)].obstacle(of: $0, at: now) }
    }

    /// Removes an effect that was completed, cancelled or parked, whether it waited or ran. An unknown effect is ignored.
    package mutating func remove(at place: Int) {
        let place = Int32(place)
        guard let lane = entries[place]?.lane else { return }
        lanes[Int(lane)].remove(at: place, &entries)
    }

    /// Makes an effect wait again after its attempt has ended, behind those that wait already. An unknown effect is ignored.
    package mutating func requeue(at place: Int, notBefore: MonotonicTime?) {
        let place = Int32(place)
        guard let entry = entries[place] else { return }
        let again = SchedulerLane.Arrival(
            place: place, lane: entry.lane, ticket: nextTicket(), priority: entry.priority)
        lanes[Int(entry.lane)].requeue(again, notBefore: notBefore, &entries)
    }

    /// Adds an effect that already runs. It counts against the limits from then on, even above them.
    package mutating func adopt(at place: Int, of feedback: UInt32, group: String?, priority: Int32 = 0) {
        let lane = lane(of: feedback)
        let new = SchedulerLane.Arrival(
            place: Int32(place), lane: Int32(lane), ticket: nextTicket(), priority: priority)
        lanes[lane].adopt(new, group: group, &entries)
    }

    /// The earliest time, not before `now`, at which `next` may return an effect that waits only for a delay or a rate. Nil
    /// if none does. Valid after a `next` that returned nil.
    package func deadline(after now: MonotonicTime) -> MonotonicTime? {
        lanes.compactMap { $0.deadline(after: now) }.min()
    }

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

/// What a waiting effect waits for.
package enum SchedulerObstacle: Equatable, Sendable {
    /// The time of its next try.
    case delay
    /// The end of another effect of its feedback, which runs this many.
    case concurrency(Int)
    /// The feedback's rate, until this time.
    case rate(until: MonotonicTime)
    /// The end of another effect of its group, which runs this many.
    case groupConcurrency(String, Int)
    /// The rate of its group, until this time.
    case groupRate(String, until: MonotonicTime)
}
