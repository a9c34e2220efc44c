/// What happens to runs that were missed, because no process ran the loop at their time, or the clock skipped it.
public enum MissedRuns: Hashable, Sendable {
    /// They are skipped. A run that is less than a minute late was not missed.
    case skip
    /// The newest of them runs as soon as possible. It has the number of those before it.
    case once
    /// All of them run, in order, but at most this many of the newest; at least 1, at most 1000.
    case all(atMost: Int)

    /// All of them run, but at most the newest hundred.
    public static var all: MissedRuns { .all(atMost: 100) }
}

/// One run of a schedule.
public struct ScheduleRun: Hashable, Codable, Sendable {
    /// The time of this run in the schedule. For a run by hand, the time at which the operator requested it.
    public var due: WallTime
    /// How many missed runs before it were skipped, counted up to 999.
    public var missed: Int
    /// Whether an operator has requested it, besides the schedule's own runs.
    public var isByHand: Bool

    /// Creates a run from its parts.
    package init(due: WallTime, missed: Int = 0, isByHand: Bool = false) {
        self.due = due
        self.missed = missed
        self.isByHand = isByHand
    }
}

/// The standing of a schedule: its next and newest run.
package struct ScheduleStanding: Hashable, Sendable {
    /// The time of its next run.
    package var next: WallTime
    /// The time of its newest run, or nil if there was none.
    package var last: WallTime?
    package var isPaused = false
    /// The `plan` of the schedule to which the standing belongs.
    package var plan: UInt64

    package init(next: WallTime, last: WallTime? = nil, isPaused: Bool = false, plan: UInt64) {
        self.next = next
        self.last = last
        self.isPaused = isPaused
        self.plan = plan
    }
}

extension PlannedSchedule {
    /// What a schedule does at a time.
    package enum Step: Equatable, Sendable {
        /// It runs, and this is its next time.
        case run(ScheduleRun, next: WallTime)
        /// The missed runs are skipped.
        case pass(next: WallTime)
    }

    /// How late a run may be, in milliseconds, without counting as missed.
    private static var tolerance: Int64 { 60_000 }
    /// The limit of the count of missed runs.
    private static var countMax: Int { 1000 }

    /// The times that are due, computed once for all runs at one time.
    package struct Backlog: Sendable {
        fileprivate var due: ArraySlice<WallTime> = []
        fileprivate var wall = WallTime.never

        package init() {}
    }

    /// What a schedule does at a time, or nil if nothing is due.
    /// - Parameter backlog: the schedule's backlog, kept from one step to the next.
    package func step(
        _ standing: ScheduleStanding, _ missed: MissedRuns, at wall: WallTime, _ backlog: inout Backlog
    ) -> Step? {
        guard !standing.isPaused, standing.next <= wall else { return nil }
        if backlog.wall != wall || backlog.due.first != standing.next {
            backlog.wall = wall
            backlog.due = dueTimes(from: standing.next, through: wall)[...]
        }
        guard let newest = backlog.due.last else { return .pass(next: next(after: wall)) }
        let count = backlog.due.count
        switch missed {
        case .skip where wall.milliseconds - newest.milliseconds >= Self.tolerance:
            return .pass(next: next(after: wall))
        case .skip, .once:
            return .run(ScheduleRun(due: newest, missed: count - 1), next: next(after: newest))
        case .all(let atMost):
            let leftOut = count - min(count, max(1, min(atMost, Self.countMax)))
            backlog.due.removeFirst(leftOut)
            let first = backlog.due.removeFirst()
            return .run(ScheduleRun(due: first, missed: leftOut), next: backlog.due.first ?? next(after: first))
        }
    }

    /// The newest times of the schedule in a range that begins with one of them, at most a thousand.
    private func dueTimes(from first: WallTime, through wall: WallTime) -> [WallTime] {
        // Tries ever longer spans before the end, so that a long standstill costs little.
        var span: Int64 = 3_600_000
        while true {
            let (begin, overflow) = wall.milliseconds.subtractingReportingOverflow(span)
            let isAll = overflow || begin <= first.milliseconds
            var times: [WallTime] = []
            var time = isAll ? first : next(after: WallTime(milliseconds: begin))
            while time <= wall {
                times.append(time)
                time = next(after: time)
            }
            if isAll || times.count >= Self.countMax { return times.suffix(Self.countMax) }
            span = span.multipliedReportingOverflow(by: 24).partialValue
        }
    }
}
