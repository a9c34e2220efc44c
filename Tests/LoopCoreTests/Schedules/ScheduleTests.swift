import LoopCore
import Testing

@Suite struct `A schedule` {
    private let berlin = ZoneRulesTests.berlin

    private func planned(_ schedule: Schedule) throws -> PlannedSchedule { try schedule.planned(ZoneDatabase()) }

    private func at(_ time: CivilTime) -> WallTime { WallTime(milliseconds: time.seconds * 1000) }

    private func runs(_ schedule: Schedule, after time: CivilTime, _ count: Int) throws -> [String] {
        let planned = try planned(schedule)
        var (time, runs) = (at(time), [] as [String])
        for _ in 0..<count {
            time = planned.next(after: time)
            runs.append(String(time.civilText.dropLast(7)))
        }
        return runs
    }

    @Test func `of an interval runs at its multiples`() throws {
        #expect(
            try runs(.every(.seconds(300)), after: CivilTime(2026, 1, 1, 0, 7), 2) == [
                "2026-01-01 00:10", "2026-01-01 00:15",
            ])
        #expect(try planned(.every(.seconds(60))).next(after: WallTime(milliseconds: -1)) == WallTime(milliseconds: 0))
    }

    @Test func `runs a time of day once, also where the clocks show it twice or not at all`() throws {
        let schedule = Schedule.cron("30 2 * * *", timeZone: berlin)
        #expect(
            try runs(schedule, after: CivilTime(2026, 3, 27, 12), 3)
                == ["2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"])
        #expect(
            try runs(schedule, after: CivilTime(2026, 10, 23, 12), 3)
                == ["2026-10-24 00:30", "2026-10-25 00:30", "2026-10-26 01:30"])
        // Two that the change skips are one.
        #expect(
            try runs(.cron("15,45 2 29 3 *", timeZone: berlin), after: CivilTime(2026, 1, 1), 2)
                == ["2026-03-29 01:00", "2027-03-29 00:15"])
    }

    @Test func `of every hour runs in every hour`() throws {
        #expect(
            try runs(.cron("30 * * * *", timeZone: berlin), after: CivilTime(2026, 10, 25, 0), 3)
                == ["2026-10-25 00:30", "2026-10-25 01:30", "2026-10-25 02:30"])
        #expect(
            try runs(.cron("30 * * * *", timeZone: berlin), after: CivilTime(2026, 3, 29, 0), 3)
                == ["2026-03-29 00:30", "2026-03-29 01:30", "2026-03-29 02:30"])
        #expect(
            try runs(.cron("0 */2 * * *", timeZone: berlin), after: CivilTime(2026, 3, 28, 23), 2)
                == ["2026-03-29 02:00", "2026-03-29 04:00"])
    }

    @Test func `that is wrong, or whose zone is not known, says so`() {
        #expect(throws: ScheduleError.self) { try planned(.cron("61 * * * *")) }
        #expect(throws: ScheduleError.self) { try planned(.every(.milliseconds(500))) }
        let error = #expect(throws: ScheduleError.self) {
            try planned(.cron("0 3 * * *", timeZone: "Europe/Berlin"))
        }
        #expect(error?.reason.hasPrefix("the time zone \"Europe/Berlin\" is not known here") == true)
        #expect(Schedule.cron("0 3 * * *", timeZone: "Europe/Berlin").namedZone == "Europe/Berlin")
        #expect(Schedule.cron("0 3 * * *", timeZone: berlin).namedZone == nil)
        #expect(Schedule.cron("0 3 * * *").namedZone == nil)
    }

    // MARK: Missed runs

    private func step(_ missed: MissedRuns, late seconds: Int64) throws -> PlannedSchedule.Step? {
        let planned = try planned(.every(.seconds(100)))
        let standing = ScheduleStanding(next: WallTime(milliseconds: 100_000), plan: planned.plan)
        var backlog = PlannedSchedule.Backlog()
        return planned.step(standing, missed, at: WallTime(milliseconds: 100_000 + seconds * 1000), &backlog)
    }

    private func run(_ seconds: Int64, missed: Int = 0, next: Int64) -> PlannedSchedule.Step {
        .run(
            ScheduleRun(due: WallTime(milliseconds: seconds * 1000), missed: missed),
            next: WallTime(milliseconds: next * 1000))
    }

    @Test func `runs when it is due, and not before`() throws {
        for missed in [MissedRuns.skip, .once, .all] {
            #expect(try step(missed, late: -1) == nil)
            #expect(try step(missed, late: 0) == run(100, next: 200))
            #expect(try step(missed, late: 59) == run(100, next: 200))
        }
    }

    @Test func `leaves out what was missed, runs the newest, or all up to a limit`() throws {
        #expect(try step(.skip, late: 61) == .pass(next: WallTime(milliseconds: 200_000)))
        #expect(try step(.skip, late: 430) == run(500, missed: 4, next: 600))
        #expect(try step(.once, late: 461) == run(500, missed: 4, next: 600))
        #expect(try step(.all, late: 461) == run(100, next: 200))
        #expect(try step(.all(atMost: 2), late: 461) == run(400, missed: 3, next: 500))
        // A century costs no more than a day.
        #expect(try step(.once, late: 3_000_000_050) == run(3_000_000_100, missed: 999, next: 3_000_000_200))
    }

    @Test func `that is paused does nothing`() throws {
        let planned = try planned(.every(.seconds(100)))
        let standing = ScheduleStanding(next: WallTime(milliseconds: 0), isPaused: true, plan: 0)
        var backlog = PlannedSchedule.Backlog()
        #expect(planned.step(standing, .all, at: WallTime(milliseconds: 1_000_000), &backlog) == nil)
    }

    @Test func `runs all that were missed in forty days up to the limit, one after the other`() throws {
        let planned = try planned(.cron("* * * * *", timeZone: berlin))
        let wall = WallTime(milliseconds: 40 * 86_400_000)
        var standing = ScheduleStanding(next: WallTime(milliseconds: 60_000), plan: planned.plan)
        // The backlog of one time is of no use at another.
        for now in [wall, wall + .seconds(30), wall + .seconds(120)] {
            var backlog = PlannedSchedule.Backlog()
            var runs: [ScheduleRun] = []
            while let step = planned.step(standing, .all(atMost: 1000), at: now, &backlog) {
                guard case .run(let run, let next) = step else { break }
                runs.append(run)
                standing.next = next
            }
            let count = now == wall ? 1000 : now == wall + .seconds(30) ? 0 : 2
            #expect(runs.count == count)
            #expect(runs.allSatisfy { $0.missed == 0 })
            #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.due + .seconds(60) == $1.due })
            #expect(standing.next.milliseconds == (now.milliseconds / 60_000 + 1) * 60_000)
        }
    }

    /// In rules of POSIX, what is ahead of UTC has a minus.
    @Test(arguments: [
        "UTC+2", "UTC-2", "utc+05:30", "GMT+2", "GMT2", "Etc/GMT+2", "Etc/GMT-14", "<+02>2", "<-02>-2", "<UTC+2>2",
        "<GMT-2>-2",
        "CET+1", "WET+1", "posix/Etc/GMT+2", "right/Etc/GMT-14",
    ])
    func `whose zone reads as the opposite of what it means is refused`(zone: String) {
        let error = #expect(throws: ScheduleError.self) { try planned(.cron("0 3 * * *", timeZone: zone)) }
        let hasMinus = zone.hasSuffix("-2") || zone.hasSuffix("-14")
        let side = hasMinus ? "ahead of UTC" : "behind UTC"
        #expect(error?.reason.contains("the time zone \"\(zone)\" means ") == true)
        #expect(error?.reason.contains(side) == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test(arguments: [
        "UTC", "GMT0", "UTC0", "GMT+0", "<+02>-2", "<-02>2", "EST5EDT", "CET-1", "<UTC+2>-2",
        "GMT0BST,M3.5.0/1,M10.5.0",
    ])
    func `whose zone says what it means is taken`(zone: String) throws {
        _ = try planned(.cron("0 3 * * *", timeZone: zone))
    }

    @Test func `is told how to write a zone that is two hours ahead`() throws {
        let error = #expect(throws: ScheduleError.self) { try planned(.cron("0 3 * * *", timeZone: "UTC+2")) }
        #expect(error?.reason.contains("\"<+02>-2\" for ahead, \"<-02>2\" for behind") == true)
        #expect(
            try runs(.cron("0 3 * * *", timeZone: "<+02>-2"), after: CivilTime(2026, 1, 1), 1) == ["2026-01-01 01:00"])
    }
}

private typealias ZoneRulesTests = `The rules of a zone`
