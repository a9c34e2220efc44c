/// What becomes of runs that were missed, because nothing ran the loop at their time, or the clock jumped over it.
public enum MissedRuns: Hashable, Sendable {
    /// They are left out. A run that is less than a minute late was not missed.
    case skip
    /// The newest of them runs, as soon as it can. It is told how many there were before it.
    case once
    /// All of them run, in order, but no more than this many of the newest; at least 1, at most 1000.
    case all(atMost: Int)

    /// All of them run, but no more than the newest hundred.
    public static var all: MissedRuns { .all(atMost: 100) }
}

/// One run of a schedule.
public struct ScheduleRun: Hashable, Codable, Sendable {
    /// The time of the schedule that this is the run of; of one by hand, when it was asked for.
    public var due: WallTime
    /// How many runs before it were missed and are left out; at most 999 are counted.
    public var missed: Int
    /// Whether an operator has asked for it, besides the schedule's own runs.
    public var isByHand: Bool

    /// Creates a run from its parts.
    public init(due: WallTime, missed: Int = 0, isByHand: Bool = false) {
        self.due = due
        self.missed = missed
        self.isByHand = isByHand
    }
}

/// Where a schedule stands.
package struct ScheduleStanding: Hashable, Sendable {
    /// The time of its next run.
    package var next: WallTime
    /// The time of its newest run; nil: there was none.
    package var last: WallTime?
    package var isPaused = false
    /// Of the schedule that it stands in.
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
        /// It runs, and its next time is that.
        case run(ScheduleRun, next: WallTime)
        /// What was missed is left out.
        case pass(next: WallTime)
    }

    /// How late a run may be that was not missed.
    private static var tolerance: Int64 { 60_000 }
    /// How many missed runs are counted.
    private static var countMax: Int { 1000 }

    /// The due times of a schedule, kept so that they are computed once for all runs at one time.
    package struct Backlog: Sendable {
        fileprivate var due: ArraySlice<WallTime> = []
        fileprivate var wall = WallTime.never

        package init() {}
    }

    /// What a schedule does at a time; nil: nothing is due.
    /// - Parameter backlog: the schedule's due times, kept from one step to the next.
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

    /// The newest of the schedule's times in a range that begins with one of them, at most a thousand.
    private func dueTimes(from first: WallTime, through wall: WallTime) -> [WallTime] {
        // Ever larger pieces of the end, so that a long standstill costs little.
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
