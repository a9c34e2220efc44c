import LoopCollections

/// A `PlacedScheduler` for whoever knows effects by their IDs alone.
public struct EffectScheduler: Sendable {
    private struct Nothing: Sendable {}

    private var scheduler: PlacedScheduler
    /// Gives each effect its place.
    private var known = HashTable<EffectID, Nothing>()

    /// - Parameter policies: by feedback number. A feedback without one has no limits.
    public init(policies: [UInt32: EffectPolicy]) { scheduler = PlacedScheduler(policies: policies) }

    /// The number of effects that wait to be started.
    public var waitingCount: Int { scheduler.waitingCount }

    /// The number of effects that run.
    public var runningCount: Int { scheduler.runningCount }

    /// The number of groups that are remembered: those with effects, and those whose buckets are still filling.
    package var groupCount: Int { scheduler.groupCount }

    /// The number of times that groups wait for, with those for which no group waits any more.
    package var groupTimesCount: Int { scheduler.groupTimesCount }

    /// The effect waits to be started. Ignored when it waits or runs already.
    /// - Parameters:
    ///   - id: the effect that waits.
    ///   - group: the group whose limits and share it counts for; nil: no group limits it.
    ///   - priority: the greater, the sooner; of no effect where the policy has no `priorityStep`.
    ///   - notBefore: the earliest start; nil: at once.
    public mutating func add(
        _ id: EffectID, group: String?, priority: Int32 = 0, notBefore: MonotonicTime? = nil
    ) {
        scheduler.add(
            at: place(of: id), of: id.feedback, group: group, priority: priority, notBefore: notBefore)
    }

    /// The effect has this priority from here on. While it waits, the time that it has waited still counts. Unknown ones are
    /// ignored.
    public mutating func prioritize(_ id: EffectID, _ priority: Int32) {
        if let place = known.index(forKey: id) { scheduler.prioritize(at: place, priority) }
    }

    /// Whether `next` would find an effect, were there places for all.
    public mutating func mayStart(at now: MonotonicTime) -> Bool { scheduler.mayStart(at: now) }

    /// The next effect that may start now, which counts as running from here on; nil: none may.
    /// - Parameters:
    ///   - now: the present time.
    ///   - canPlace: whether there is a place for an effect of this feedback number; asked at most once for each
    ///     feedback, and only for one that has an effect to start.
    public mutating func next(at now: MonotonicTime, where canPlace: (UInt32) -> Bool) -> EffectID? {
        scheduler.next(at: now, where: canPlace).map { known.key(at: $0) }
    }

    /// An effect is no more, whether it waited or ran: completed, cancelled or parked. Unknown ones are ignored.
    public mutating func remove(_ id: EffectID) {
        let hash = id.mixed
        guard let place = known.find(id, hash) else { return }
        scheduler.remove(at: place)
        known.remove(at: place, hash)
    }

    /// An effect's attempt has ended and it waits again, behind those that wait already. Unknown ones are ignored.
    public mutating func requeue(_ id: EffectID, notBefore: MonotonicTime?) {
        if let place = known.index(forKey: id) { scheduler.requeue(at: place, notBefore: notBefore) }
    }

    /// Adopts an effect that already runs: it counts against the limits from here on, also above them.
    public mutating func adopt(_ id: EffectID, group: String?, priority: Int32 = 0) {
        scheduler.adopt(at: place(of: id), of: id.feedback, group: group, priority: priority)
    }

    /// The earliest time, not before `now`, at which `next` may find something that waits for time alone (a delay, a
    /// rate); nil: nothing does. Holds after a `next` that found nothing.
    public func deadline(after now: MonotonicTime) -> MonotonicTime? { scheduler.deadline(after: now) }

    private mutating func place(of id: EffectID) -> Int {
        let hash = id.mixed
        return known.find(id, hash) ?? known.insert(id, Nothing(), hash)
    }
}
