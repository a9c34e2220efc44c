/// Decides which waiting effect may start next, within the concurrency and rate limits of its feedback and its group.
///
/// A pure value: time comes in as an argument, and whether there is a place to run comes in as `canPlace`. Within a
/// feedback effects start in the order in which they were added, a retried one goes to the back, and a group at its
/// limit holds up nobody else. Between feedbacks the turn rotates. Rate limits are token buckets, all empty when the
/// scheduler begins, which is at its first `next`: a restart gives no burst.
///
/// Every operation costs O(log n) in the waiting effects, amortized, and O(f) in the feedbacks for `next`.
public struct EffectScheduler: Sendable {
    private var lanes: [SchedulerLane] = []
    private var numbers: [UInt32] = []
    /// Of the lane of each feedback number, which is its own hash.
    private var positions = HashTable<UInt32, Int>()
    /// The lane that is asked first.
    private var turn = 0
    /// Numbers the additions, so that order does not depend on time.
    private var ticket: UInt64 = 0

    /// - Parameter policies: by feedback number. A feedback without one has no limits.
    public init(policies: [UInt32: EffectPolicy]) {
        for number in policies.keys.sorted() { makeLane(number, policies[number] ?? EffectPolicy()) }
    }

    /// The number of effects that wait to be started.
    public var waitingCount: Int { lanes.reduce(0) { $0 + $1.waitingCount } }

    /// The number of effects that run.
    public var runningCount: Int { lanes.reduce(0) { $0 + $1.runningCount } }

    /// The number of groups that are remembered: those with effects, and those whose buckets are still filling.
    package var groupCount: Int { lanes.reduce(0) { $0 + $1.groupCount } }

    /// The effect waits to be started. Ignored when it waits or runs already.
    /// - Parameters:
    ///   - group: the group whose limits it shares; nil: no group limits it.
    ///   - notBefore: the earliest start; nil: at once.
    public mutating func add(_ id: EffectID, group: String?, notBefore: MonotonicTime? = nil) {
        lanes[lane(of: id)].add(id, group: group, notBefore: notBefore, ticket: nextTicket())
    }

    /// Whether `next` would find an effect, were there places for all.
    public mutating func mayStart(at now: MonotonicTime) -> Bool {
        var mayStart = false
        for position in lanes.indices {
            lanes[position].advance(to: now)
            if lanes[position].canStart(at: now) { mayStart = true }
        }
        return mayStart
    }

    /// The next effect that may start now, which counts as running from here on; nil: none may.
    /// - Parameter canPlace: whether there is a place for an effect of this feedback number; asked at most once for
    ///   each feedback, and only for one that has an effect to start.
    public mutating func next(at now: MonotonicTime, where canPlace: (UInt32) -> Bool) -> EffectID? {
        for position in lanes.indices { lanes[position].advance(to: now) }
        for step in lanes.indices {
            let position = (turn + step) % lanes.count
            guard lanes[position].canStart(at: now), canPlace(numbers[position]) else { continue }
            guard let id = lanes[position].start(at: now) else { continue }
            turn = (position + 1) % lanes.count
            return id
        }
        return nil
    }

    /// An effect is no more, whether it waited or ran: completed, cancelled or parked. Unknown ones are ignored.
    public mutating func remove(_ id: EffectID) {
        guard let position = position(of: id) else { return }
        lanes[position].remove(id)
    }

    /// An effect's attempt has ended and it waits again, behind those that wait already. Unknown ones are ignored.
    public mutating func requeue(_ id: EffectID, notBefore: MonotonicTime?) {
        guard let position = position(of: id) else { return }
        lanes[position].requeue(id, notBefore: notBefore, ticket: nextTicket())
    }

    /// Adopts an effect that already runs: it counts against the limits from here on, also above them.
    public mutating func adopt(_ id: EffectID, group: String?) {
        lanes[lane(of: id)].adopt(id, group: group, ticket: nextTicket())
    }

    /// The earliest time, not before `now`, at which `next` may find something that waits for time alone (a delay, a
    /// rate); nil: nothing does. Holds after a `next` that found nothing.
    public func deadline(after now: MonotonicTime) -> MonotonicTime? {
        lanes.compactMap { $0.deadline(after: now) }.min()
    }

    private mutating func nextTicket() -> UInt64 {
        ticket += 1
        return ticket
    }

    private mutating func lane(of id: EffectID) -> Int {
        position(of: id) ?? makeLane(id.feedback, EffectPolicy())
    }

    private func position(of id: EffectID) -> Int? {
        positions.find(id.feedback, UInt64(id.feedback)).map { positions[at: $0] }
    }

    @discardableResult
    private mutating func makeLane(_ number: UInt32, _ policy: EffectPolicy) -> Int {
        positions.insert(number, lanes.count, UInt64(number))
        numbers.append(number)
        lanes.append(SchedulerLane(policy: policy))
        return lanes.count - 1
    }
}
