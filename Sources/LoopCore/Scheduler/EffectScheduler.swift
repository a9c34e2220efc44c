import LoopCollections

/// A `PlacedScheduler` for callers that know effects only by their IDs.
public struct EffectScheduler: Sendable {
    private struct Nothing: Sendable {}

    private var scheduler: PlacedScheduler
    /// The table that gives each effect its place.
    private var known = HashTable<EffectID, Nothing>()

    /// Creates a scheduler.
    /// - Parameter policies: the policies by feedback number. A feedback without one has no limits.
    public init(policies: [UInt32: EffectPolicy]) { scheduler = PlacedScheduler(policies: policies) }

    /// The number of waiting effects.
    public var waitingCount: Int { scheduler.waitingCount }

    /// The number of running effects.
    public var runningCount: Int { scheduler.runningCount }

    /// The number of remembered groups: those with effects, and those whose buckets are still filling.
    package var groupCount: Int { scheduler.groupCount }

    /// The number of times for which groups wait, including those that are no longer needed.
    package var groupTimesCount: Int { scheduler.groupTimesCount }

    /// Adds a waiting effect. Ignored if it waits or runs already.
    /// - Parameters:
    ///   - id: the effect that waits.
    ///   - group: the group whose limits and share it uses, or nil for none.
    ///   - priority: greater ones start sooner. Ignored if the policy has no `priorityStep`.
    ///   - notBefore: the earliest start, or nil for at once.
    public mutating func add(
        _ id: EffectID, group: String?, priority: Int32 = 0, notBefore: MonotonicTime? = nil
    ) {
        scheduler.add(
            at: place(of: id), of: id.feedback, group: group, priority: priority, notBefore: notBefore)
    }

    /// Changes the priority of an effect. While it waits, the time that it has waited still counts. An unknown effect is ignored.
    public mutating func prioritize(_ id: EffectID, _ priority: Int32) {
        if let place = known.index(forKey: id) { scheduler.prioritize(at: place, priority) }
    }

    /// Whether `next` would return an effect if every feedback had capacity.
    public mutating func mayStart(at now: MonotonicTime) -> Bool { scheduler.mayStart(at: now) }

    /// Starts the next effect that may start now, or returns nil if none may. From then on it counts as running.
    /// - Parameters:
    ///   - now: the present time.
    ///   - canPlace: whether there is capacity for an effect of this feedback number. It is called at most once for each
    ///     feedback, and only for one that has an effect to start.
    public mutating func next(at now: MonotonicTime, where canPlace: (UInt32) -> Bool) -> EffectID? {
        scheduler.next(at: now, where: canPlace).map { known.key(at: $0) }
    }

    /// Removes an effect that was completed, cancelled or parked, whether it waited or ran. An unknown effect is ignored.
    public mutating func remove(_ id: EffectID) {
        let hash = id.mixed
        guard let place = known.find(id, hash) else { return }
        scheduler.remove(at: place)
        known.remove(at: place, hash)
    }

    /// Makes an effect wait again after its attempt has ended, behind those that wait already. An unknown effect is ignored.
    public mutating func requeue(_ id: EffectID, notBefore: MonotonicTime?) {
        if let place = known.index(forKey: id) { scheduler.requeue(at: place, notBefore: notBefore) }
    }

    /// Adds an effect that already runs. It counts against the limits from then on, even above them.
    public mutating func adopt(_ id: EffectID, group: String?, priority: Int32 = 0) {
        scheduler.adopt(at: place(of: id), of: id.feedback, group: group, priority: priority)
    }

    /// The earliest time, not before `now`, at which `next` may return an effect that waits only for a delay or a rate. Nil
    /// if none does. Valid after a `next` that returned nil.
    public func deadline(after now: MonotonicTime) -> MonotonicTime? { scheduler.deadline(after: now) }

    private mutating func place(of id: EffectID) -> Int {
        let hash = id.mixed
        return known.find(id, hash) ?? known.insert(id, Nothing(), hash)
    }
}
