import LoopCore
import LoopWire

/// Schedules, whose due times become events. (Protocol, section 6.)
extension ReducerMachine {
    /// Begins the schedules of an epoch. A schedule begins now if the journal does not know it, or knows it with another plan.
    /// So does one that has run ahead with a wrong clock.
    mutating func beginSchedules() {
        schedules.begin(journaled, setting.timeZones)
        for number in schedules.all.keys.sorted() {
            guard let planned = schedules.all[number]?.planned,
                journaled.schedules[number]?.plan != planned.plan || isAhead(number, planned)
                    || breaks(.schedulesAreKept)
            else { continue }
            passSchedule(number, planned.plan, next: planned.next(after: recordTime))
        }
    }

    private func isAhead(_ number: UInt32, _ planned: PlannedSchedule) -> Bool {
        guard context.configuration.acceptsClock, let standing = journaled.schedules[number] else { return false }
        return standing.next > planned.next(after: recordTime)
    }

    private mutating func passSchedule(_ number: UInt32, _ plan: UInt64, next: WallTime) {
        write(.scheduled(ScheduleRecord(schedule: number, time: recordTime, next: next, plan: plan)))
    }

    /// Runs the schedules that are due, in the order of their times.
    mutating func runSchedules() {
        var count = 0
        while phase.grants, !poison.isAlone, count < Schedules.countMax,
            let number = schedules.firstDue(at: recordTime, journaled.schedules)
        {
            guard runSchedule(number) else { return }
            if !breaks(.endsTakeEffectAtOnce) { noticeOutcome() }
            count += 1
        }
    }

    /// - Returns: whether it was handled. If not, it is not due, or waits for its own turn, and nothing has changed.
    private mutating func runSchedule(_ number: UInt32) -> Bool {
        guard let one = schedules.all[number], let standing = journaled.schedules[number],
            let step = one.planned.step(
                standing, one.facts.missed, at: recordTime, &schedules.backlogs[number, default: .init()])
        else { return false }
        switch step {
        case .pass(let next):
            passSchedule(number, standing.plan, next: next)
            return true
        case .run(let run, let next):
            guard let bytes = one.facts.event(run), bytes.count <= context.configuration.eventBytesMax else {
                turn.news.append(.runLeftOut(schedule: one.name))
                passSchedule(number, standing.plan, next: next)
                return true
            }
            return runSchedule(number, one, run, next, bytes[...])
        }
    }

    private mutating func runSchedule(
        _ number: UInt32, _ one: Schedules.One, _ run: ScheduleRun, _ next: WallTime, _ bytes: ArraySlice<UInt8>
    ) -> Bool {
        schedules.awaitsTurn = false
        // The schedule identifies the event, because another run may be due after a crash.
        let words = Entry(kind: .event, payload: Array("a run of the schedule \(one.name)".utf8)[...])
        switch examine(words, .ofTimers, isApplied: true) {
        case .consume, .consumeAlone, .refuse: break
        case .wait:
            schedules.awaitsTurn = true
            return false
        case .setAside(let suspect):
            passSchedule(number, one.planned.plan, next: next)
            setAside(Entry(kind: .event, payload: bytes), .ofTimers, at: nil, suspect)
            return true
        }
        journaled.note?.enter(.none, EntryNumber.ofTimers.number, nil, words.payload)
        defer { journaled.note?.leave() }
        if !applyRun(of: number, one, run, next, bytes) { passSchedule(number, one.planned.plan, next: next) }
        return true
    }

    /// - Returns: whether the bytes are an event.
    private mutating func applyRun(
        of number: UInt32, _ one: Schedules.One, _ run: ScheduleRun, _ next: WallTime, _ bytes: ArraySlice<UInt8>
    ) -> Bool {
        let scheduled = ScheduledRun(
            schedule: number, due: run.due, next: next, plan: one.planned.plan, isByHand: run.isByHand)
        return apply(EventRecord(scheduled, seq: journaled.seq.next, time: recordTime, bytes: bytes))
    }

    // MARK: Requests of operators

    /// The schedules of the definition in its order, with their next runs.
    func scheduleList() -> AdministrationAnswer {
        .schedules(
            journaled.table.numbers.compactMap { number in
                guard let one = schedules.all[number], let standing = journaled.schedules[number] else { return nil }
                var next: [Int64] = []
                var time = standing.next
                while !standing.isPaused, next.count < 5, time != .never {
                    next.append(time.milliseconds)
                    time = one.planned.next(after: time)
                }
                return ListedSchedule(
                    name: one.name, schedule: "\(one.facts.schedule)", isPaused: standing.isPaused,
                    last: standing.last?.milliseconds, next: next,
                    standsStillUntil: clockLag.map { _ in journaled.time.milliseconds })
            })
    }

    mutating func pauseSchedule(_ name: String, by who: String) -> AdministrationAnswer {
        guard let number = schedules.number(named: name) else { return unknownSchedule(name) }
        if journaled.schedules[number]?.isPaused == true { return .refused("the schedule \(name) is paused already") }
        write(.operatorAction(OperatorAction(.pauseSchedule(number), by: who, at: context.now.wall)))
        return .done("the schedule \(name) is paused")
    }

    /// Resumes a paused schedule with its next run. Runs that were due during the pause do not count as missed.
    mutating func resumeSchedule(_ name: String, by who: String) -> AdministrationAnswer {
        guard let number = schedules.number(named: name), let one = schedules.all[number] else {
            return unknownSchedule(name)
        }
        guard journaled.schedules[number]?.isPaused == true else {
            return .refused("the schedule \(name) is not paused")
        }
        passSchedule(number, one.planned.plan, next: one.planned.next(after: recordTime))
        write(.operatorAction(OperatorAction(.resumeSchedule(number), by: who, at: context.now.wall)))
        return .done("the schedule \(name) goes on")
    }

    /// Runs a schedule once more, even one that is paused.
    mutating func runScheduleNow(_ name: String, by who: String) -> AdministrationAnswer {
        guard let number = schedules.number(named: name), let one = schedules.all[number],
            let standing = journaled.schedules[number]
        else { return unknownSchedule(name) }
        guard phase.grants else { return .refused("the loop has ended") }
        let run = ScheduleRun(due: recordTime, isByHand: true)
        guard let bytes = one.facts.event(run), journaled.loopState.canDecode(bytes[...]) else {
            return .refused("the event of the schedule \(name) cannot be encoded")
        }
        write(.operatorAction(OperatorAction(.runSchedule(number), by: who, at: context.now.wall)))
        journaled.note?.enter(.none, EntryNumber.ofTimers.number, nil, bytes[...])
        defer { journaled.note?.leave() }
        guard applyRun(of: number, one, run, standing.next, bytes[...]) else {
            preconditionFailure("the event of the schedule \(name) could be decoded, and then could not")
        }
        return .done("the schedule \(name) has run, as seq \(journaled.seq)")
    }

    private func unknownSchedule(_ name: String) -> AdministrationAnswer {
        .refused("there is no schedule named \"\(name.prefix(64))\"; see: loopctl schedules")
    }
}
