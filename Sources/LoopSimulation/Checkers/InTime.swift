import LoopCluster
import LoopCore

/// G15: a timer fires once, not before its time, with its event, and only while the state requests it for that time. Timers that
/// are due together fire in the order of their times. A schedule runs at its own times, each once and not before it is due. It
/// omits only what its policy allows. That each run comes at all is checked when everything settles.
struct InTime<Work: Workload>: Checker {
    static var promise: Promise { .inTime }
    private(set) var checkCount = 0

    private struct Plan: Sendable {
        let planned: PlannedSchedule
        let missed: MissedRuns
    }

    private let plans: [Plan?]
    /// The time of each schedule's next run, by its newest record, and the time of its last run.
    private var next: [UInt32: WallTime] = [:]
    private var last: [UInt32: WallTime] = [:]
    /// A run was omitted, which is right only if its event is set aside.
    private var leftOut: String?

    init(_ work: Work) {
        plans = work.definition.allFeedbacks.map { feedback in
            guard let schedule = feedback.schedule, let planned = try? schedule.schedule.planned(ZoneDatabase()) else {
                return nil
            }
            return Plan(planned: planned, missed: schedule.missed)
        }
    }

    mutating func begin() {
        next = [:]
        last = [:]
        leftOut = nil
    }

    mutating func follow(_ record: Record, _ model: LoopModel<Work>) throws(Violation) {
        if let why = leftOut.take() {
            guard case .quarantined = record else { throw Violation(.inTime, why) }
        }
        switch record {
        case .event(let event):
            if event.isOfTimer, let effect = event.effect { try follow(event, of: effect, model) }
            if let run = event.run, !run.isByHand { try follow(run, event) }
        case .scheduled(let record): try follow(record)
        case .refused, .completed, .skipped, .granted, .attemptEnded, .sessionOpened, .sessionOwned, .sessionRetired,
            .epochBegun,
            .definition, .stateHash, .stateMarked, .markHash, .quarantined, .operatorAction, .historyBegun:
            break
        }
    }

    // MARK: Timers

    private mutating func follow(
        _ event: EventRecord, of effect: EffectID, _ model: LoopModel<Work>
    ) throws(Violation) {
        checkCount += 1
        guard let timer = model.timers[effect] else {
            let why = model.live.contains(effect) ? "it has fired or was set aside" : "the state does not ask for it"
            throw Violation(.inTime, "timer \(effect) fires at seq \(event.seq), and \(why)")
        }
        if event.time < timer.time {
            throw Violation(
                .inTime,
                "timer \(effect) fires \(timer.time.milliseconds - event.time.milliseconds) ms before its time, at seq"
                    + " \(event.seq)")
        }
        if let expected = model.event(of: effect), expected[...] != event.bytes {
            throw Violation(.inTime, "timer \(effect) fires with \(Array(event.bytes)), and not with \(expected)")
        }
        for (other, another) in model.timers where (another.time, other) < (timer.time, effect) {
            throw Violation(.inTime, "timer \(effect) fires before timer \(other), which is due earlier")
        }
    }

    // MARK: Schedules

    private func plan(of schedule: UInt32) throws(Violation) -> Plan {
        guard schedule < plans.count, let plan = plans[Int(schedule)] else {
            throw Violation(.inTime, "feedback \(schedule) is no schedule, and runs as one")
        }
        return plan
    }

    private mutating func follow(_ run: ScheduledRun, _ event: EventRecord) throws(Violation) {
        checkCount += 1
        let plan = try plan(of: run.schedule)
        let name = "schedule \(run.schedule), due \(run.due.milliseconds),"
        if let last = last[run.schedule], run.due <= last {
            throw Violation(.inTime, "\(name) runs at seq \(event.seq), and had run for \(last.milliseconds)")
        }
        if run.due > event.time { throw Violation(.inTime, "\(name) runs early, at \(event.time.milliseconds)") }
        if plan.planned.next(after: WallTime(milliseconds: run.due.milliseconds - 1)) != run.due {
            throw Violation(.inTime, "\(name) runs at a time that is none of its own")
        }
        if run.next != plan.planned.next(after: run.due) {
            throw Violation(.inTime, "\(name) is to run next at \(run.next.milliseconds)")
        }
        last[run.schedule] = run.due
        next[run.schedule] = run.next
    }

    private mutating func follow(_ record: ScheduleRecord) throws(Violation) {
        checkCount += 1
        let plan = try plan(of: record.schedule)
        if let due = next[record.schedule], due <= record.time, plan.missed != .skip {
            leftOut = "schedule \(record.schedule) leaves out its run of \(due.milliseconds)"
        }
        next[record.schedule] = record.next
    }
}
