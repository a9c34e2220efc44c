import LoopCore

/// The schedules of the definition, by feedback number, with their plans and the events of their runs. Their next times are in
/// the journaled state. (Protocol, section 6.)
struct Schedules: Sendable {
    struct One: Sendable {
        let name: String
        let facts: ScheduleFacts
        let planned: PlannedSchedule
    }

    /// The schedules by number. It is empty for a loop without schedules, which then costs no more than this check.
    private(set) var all: [UInt32: One] = [:]
    /// The due times of each schedule, by its number.
    var backlogs: [UInt32: PlannedSchedule.Backlog] = [:]
    /// Whether the first schedule that is due is a suspect, and waits for its own turn.
    var awaitsTurn = false

    /// The largest number of runs in one turn.
    static var countMax: Int { 256 }

    /// - Parameter zones: the time zones that the definition's schedules name. A schedule without its zone does not run.
    mutating func begin(_ journaled: JournaledState, _ zones: ZoneDatabase) {
        self = Schedules()
        for number in journaled.table.numbers {
            guard let feedback = journaled.table[number], let facts = feedback.schedule,
                let planned = try? facts.schedule.planned(zones)
            else { continue }
            all[number] = One(name: feedback.name, facts: facts, planned: planned)
        }
    }

    /// The number of the schedule with a name.
    func number(named name: String) -> UInt32? { all.first { $0.value.name == name }?.key }

    /// The schedule that is due first at a time, if one is.
    func firstDue(at wall: WallTime, _ standings: [UInt32: ScheduleStanding]) -> UInt32? {
        guard let first = first(standings), first.next <= wall else { return nil }
        return first.number
    }

    private func first(_ standings: [UInt32: ScheduleStanding]) -> (next: WallTime, number: UInt32)? {
        var first: (next: WallTime, number: UInt32)?
        for number in all.keys {
            guard let standing = standings[number], !standing.isPaused else { continue }
            if first.map({ (standing.next, number) < ($0.next, $0.number) }) ?? true { first = (standing.next, number) }
        }
        return first
    }

    /// When the next schedule is due, by the reducer's steady clock.
    func deadline(_ journaled: JournaledState, _ clock: ReducerClock) -> MonotonicTime? {
        if all.isEmpty { return nil }
        return first(journaled.schedules).flatMap { clock.steadyTime(of: $0.next, after: journaled.time) }
    }
}
