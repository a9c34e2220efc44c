import LoopCore
import LoopTesting
import Testing

@Suite struct `Schedules of a loop in this process` {
    private func feedbacks(_ zone: String = "UTC") -> [Feedback<[Int64], Int64>] {
        [
            .schedule("hourly", .every(.seconds(3600))) { $0.due.milliseconds / 3_600_000 },
            .schedule("daily", .cron("0 3 * * *", timeZone: zone)) { _ in 300 },
        ]
    }

    @Test func `run as the virtual clock passes their times`() {
        let clock = VirtualClock(wallTime: WallTime(milliseconds: 1_800_000))
        let loop = Loop<[Int64], Int64>(
            initial: [], reducer: { $0.append($1) }, feedbacks: feedbacks(), clock: clock, seed: 1)
        clock.advance(by: .seconds(1800))
        #expect(loop.state == [1])
        clock.advance(by: .seconds(3 * 3600))
        #expect(loop.state == [1, 2, 3, 300, 4])
        loop.stop()
        #expect(clock.sleepersCount == 0)
    }

    @Test func `are parked where their zone is not known`() {
        let loop = Loop<[Int64], Int64>(
            initial: [], reducer: { $0.append($1) }, feedbacks: feedbacks("Europe/Berlin"), clock: VirtualClock(),
            seed: 1)
        #expect(loop.parked.map(\.feedback) == ["daily"])
        #expect(loop.parked.first?.reason.contains("Europe/Berlin") == true)
    }

    @Test func `run under test as the time passes`() throws {
        try TestLoop.run(initial: [], reducer: Reducer { $0.append($1) }, feedbacks: feedbacks()) { loop in
            #expect(try loop.advance() == .seconds(3600))
            try loop.expectEvent(1) { $0 = [1] }
            try loop.advance(by: .seconds(3600))
            try loop.expectEvent(2) { $0 = [1, 2] }
        }
    }

    @Test func `run under test by the rule of their zone`() throws {
        let daily = Array(feedbacks("Europe/Berlin").suffix(1))
        try TestLoop.run(
            initial: [], reducer: Reducer { $0.append($1) }, feedbacks: daily,
            timeZones: ["Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3"]
        ) { loop in
            // Three o'clock in Berlin, in winter.
            #expect(try loop.advance() == .seconds(2 * 3600))
            try loop.expectEvent(300) { $0 = [300] }
        }
    }

    @Test(arguments: [
        ("Europe/Berlin", "the schedule \"daily\" needs the rule of its time zone"),
        ("no zone", "the schedule \"daily\" needs the rule of its time zone"),
    ])
    func `fail the test that does not say the rule of their zone`(zone: String, reason: String) throws {
        let failure = try #require(throws: TestLoopFailure.self) {
            try TestLoop.run(
                initial: [], reducer: Reducer { $0.append($1) }, feedbacks: feedbacks(zone), mode: .selective
            ) { _ in }
        }
        #expect(failure.summary.contains(reason) && failure.summary.contains("timeZones: [\"\(zone)\":"))
    }

    @Test func `fail the test whose rule is wrong`() throws {
        let failure = try #require(throws: TestLoopFailure.self) {
            try TestLoop.run(
                initial: [], reducer: Reducer { $0.append($1) }, feedbacks: feedbacks("Europe/Berlin"),
                timeZones: ["Europe/Berlin": "noon"]
            ) { _ in }
        }
        #expect(failure.summary.contains("the time zone \"Europe/Berlin\": \"noon\" is not a rule for a zone"))
    }
}
