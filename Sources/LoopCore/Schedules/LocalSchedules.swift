/// The schedules of a loop in one process. They begin with the loop, and their standing is not stored.
struct LocalSchedules: Sendable {
    private struct One: Sendable {
        let feedback: Int
        let planned: PlannedSchedule
        let missed: MissedRuns
        var standing: ScheduleStanding
        var backlog = PlannedSchedule.Backlog()

        mutating func step(at wall: WallTime) -> PlannedSchedule.Step? {
            planned.step(standing, missed, at: wall, &backlog)
        }
    }

    private var all: [One] = []
    /// The schedules that cannot run, by the position of their feedback, with the reason.
    private(set) var unusable: [(feedback: Int, reason: String)] = []

    /// - Parameters:
    ///   - feedbacks: the schedules by the position of their feedback.
    ///   - zones: the named time zones that schedules may use.
    init(_ feedbacks: [(schedule: Schedule, missed: MissedRuns)?], zones: ZoneDatabase) {
        for (feedback, one) in feedbacks.enumerated() {
            guard let one else { continue }
            do {
                let planned = try one.schedule.planned(zones)
                all.append(
                    One(
                        feedback: feedback, planned: planned, missed: one.missed,
                        standing: ScheduleStanding(next: .never, plan: planned.plan)))
            } catch {
                unusable.append((feedback, error.reason))
            }
        }
    }

    var isEmpty: Bool { all.isEmpty }

    /// Begins the schedules at the time at which the loop begins.
    mutating func begin(at wall: WallTime) {
        for index in all.indices { all[index].standing.next = all[index].planned.next(after: wall) }
    }

    /// When the next run is due, or nil if there are no schedules.
    var next: WallTime? { all.map(\.standing.next).min() }

    /// Returns the runs that are due, in the order of their times.
    mutating func takeDue(at wall: WallTime) -> [(feedback: Int, run: ScheduleRun)] {
        var due: [(feedback: Int, run: ScheduleRun)] = []
        while let index = all.indices.min(by: { all[$0].standing.next < all[$1].standing.next }),
            let step = all[index].step(at: wall)
        {
            switch step {
            case .pass(let next): all[index].standing.next = next
            case .run(let run, let next):
                due.append((all[index].feedback, run))
                all[index].standing.next = next
            }
        }
        return due
    }
}
