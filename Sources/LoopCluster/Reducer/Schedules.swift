import LoopCore
import LoopWire

/// The schedules of the definition, by feedback number: what they plan, and what their runs send. Where they stand is in the
/// journaled state. (Protocol, section 6.)
struct Schedules: Sendable {
    struct One: Sendable {
        let name: String
        let facts: ScheduleFacts
        let planned: PlannedSchedule
    }

    /// Empty where the definition has none, so that loops without schedules are asked nothing else.
    private(set) var all: [UInt32: One] = [:]
    /// The due times of each schedule, by its number.
    var backlogs: [UInt32: PlannedSchedule.Backlog] = [:]
    /// The schedule that is due first is a suspect, and waits for a turn of its own.
    var awaitsTurn = false

    /// How many runs one turn takes, at most.
    static var countMax: Int { 256 }

    /// - Parameter zones: those that the definition's schedules name; one without its zone does not run.
    mutating func begin(_ journaled: JournaledCore, _ zones: ZoneDatabase) {
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

    /// When the next one is due, by the reducer's steady clock.
    func deadline(_ journaled: JournaledCore, _ clock: ReducerClock) -> MonotonicTime? {
        if all.isEmpty { return nil }
        return first(journaled.schedules).flatMap { clock.steadyTime(of: $0.next, after: journaled.time) }
    }
}
