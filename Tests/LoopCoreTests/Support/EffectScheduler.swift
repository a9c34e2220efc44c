import LoopCore

/// A `PlacedScheduler` for tests, which know effects by their IDs. It gives each effect a place, as the table of a loop does.
struct EffectScheduler {
    private var scheduler: PlacedScheduler
    private var places: [EffectID: Int] = [:]
    /// The effect at each place, or nil if the place is free.
    private var effects: [EffectID?] = []

    init(policies: [UInt32: EffectPolicy]) { scheduler = PlacedScheduler(policies: policies) }

    var waitingCount: Int { scheduler.waitingCount }
    var runningCount: Int { scheduler.runningCount }
    var groupCount: Int { scheduler.groupCount }
    var groupTimesCount: Int { scheduler.groupTimesCount }

    mutating func add(_ id: EffectID, group: String?, priority: Int32 = 0, notBefore: MonotonicTime? = nil) {
        scheduler.add(at: place(of: id), of: id.feedback, group: group, priority: priority, notBefore: notBefore)
    }

    mutating func prioritize(_ id: EffectID, _ priority: Int32) {
        if let place = places[id] { scheduler.prioritize(at: place, priority) }
    }

    mutating func mayStart(at now: MonotonicTime) -> Bool { scheduler.mayStart(at: now) }

    mutating func next(at now: MonotonicTime, where canPlace: (UInt32) -> Bool) -> EffectID? {
        scheduler.next(at: now, where: canPlace).flatMap { effects[$0] }
    }

    mutating func remove(_ id: EffectID) {
        guard let place = places.removeValue(forKey: id) else { return }
        scheduler.remove(at: place)
        effects[place] = nil
    }

    mutating func requeue(_ id: EffectID, notBefore: MonotonicTime?) {
        if let place = places[id] { scheduler.requeue(at: place, notBefore: notBefore) }
    }

    mutating func adopt(_ id: EffectID, group: String?, priority: Int32 = 0) {
        scheduler.adopt(at: place(of: id), of: id.feedback, group: group, priority: priority)
    }

    func deadline(after now: MonotonicTime) -> MonotonicTime? { scheduler.deadline(after: now) }

    private mutating func place(of id: EffectID) -> Int {
        if let place = places[id] { return place }
        let place = effects.firstIndex(of: nil) ?? effects.endIndex
        if place == effects.endIndex { effects.append(id) } else { effects[place] = id }
        places[id] = place
        return place
    }
}
