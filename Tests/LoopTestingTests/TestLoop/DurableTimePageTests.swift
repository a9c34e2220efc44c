import LoopCore
import LoopTesting
import Testing

private enum Report: Codable, Equatable, Sendable {
    case startNightly(ScheduleRun)
    case sync
}

private let schedules: [Feedback<[Report], Report>] = [
    .schedule("nightly", .cron("0 3 * * *", timeZone: "Europe/Berlin"), missed: .once) { run in .startNightly(run) },
    .schedule("sync", .every(.seconds(300)), missed: .skip) { _ in .sync },
]

/// What docs/durable-time.md shows does what it says. ProjectTests compares the text.
@Suite struct `The page about durable time` {
    @Test func `has schedules that can be made`() {
        #expect(schedules.map(\.name) == ["nightly", "sync"])
    }

    @Test func `lets a reservation expire after ten minutes`() throws {
        let start = WallTime(milliseconds: 1_700_000_000_000)
        try TestLoop.run(Tickets(), wallTime: start) { loop in
            try loop.send(.reserve(seat: 1)) { $0.reserved[1] = start + .seconds(600) }
            try loop.expectTimer("deadline", for: 1, at: start + .seconds(600))
            try loop.advance(by: .seconds(600))
            try loop.expectEvent(.expired(seat: 1)) { $0.reserved[1] = nil }
        }
    }

    @Test func `keeps a seat that is paid in time`() throws {
        try TestLoop.run(Tickets()) { loop in
            let deadline = WallTime(milliseconds: 600_000)
            try loop.send(.reserve(seat: 1)) { $0.reserved[1] = deadline }
            let timer = try loop.expectTimer("deadline", for: 1, at: deadline)
            try loop.send(.pay(seat: 1)) {
                $0.reserved[1] = nil
                $0.sold = [1]
            }
            try loop.expectCancel(timer)
            try loop.advance(by: .seconds(600))
        }
    }
}
