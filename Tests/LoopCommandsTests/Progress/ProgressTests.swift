import LoopCore
import LoopWire
import Testing

@testable import LoopCommands

@Suite struct `Progress of a loop` {
    private func at(_ milliseconds: Int) -> MonotonicTime { MonotonicTime.zero + .milliseconds(100_000 + milliseconds) }

    private func report(done: Int, found: Int = 1000, completed: [UInt64], uptime: Int64 = 0, epoch: UInt64 = 1)
        -> StatusReport
    {
        var report = StatusReport(loop: "check", schema: 1)
        report.history = "h"
        report.epoch = epoch
        report.uptimeMilliseconds = uptime
        report.progress = Progress(done: done, found: found, unit: "pages")
        report.peers = completed.enumerated().map { index, completed in
            var peer = StatusReport.Peer(
                name: "w", peer: PeerID(high: 0, low: 0), session: SessionID(UInt64(index)), groups: ["default"],
                capacity: 4)
            peer.completed = completed
            return peer
        }
        return report
    }

    @Test(arguments: [Int.min, -1, 0, 1, .max], [Int.min, -1, 0, 1, .max])
    func `is shown whatever numbers a reducer sends`(_ done: Int, _ found: Int) {
        var meter = ProgressMeter()
        _ = meter.take(report(done: 5, completed: [.max], uptime: .min), at: at(0))
        let reading = meter.take(report(done: done, found: found, completed: [0], uptime: .max), at: at(1000))
        #expect(reading?.text(columns: nil).hasPrefix("\(done) of \(found) pages") == true)
        #expect(reading.map { $0.left ?? 0 >= 0 } == true)
    }

    @Test func `is nothing where the loop does not say`() {
        var meter = ProgressMeter()
        #expect(meter.take(StatusReport(loop: "check", schema: 1), at: at(0)) == nil)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `has no rates in its first report, which does not say when the epoch began`(_ epoch: UInt64) {
        var meter = ProgressMeter()
        let reading = meter.take(report(done: 20, completed: [8], uptime: 2000, epoch: epoch), at: at(0))
        #expect(reading?.rate == nil)
        #expect(reading?.workerRates == [])
        #expect(reading?.left == nil)
    }

    @Test func `has rates of the last five seconds`() {
        var meter = ProgressMeter()
        _ = meter.take(report(done: 0, completed: [0]), at: at(0))
        for second in 1...5 { _ = meter.take(report(done: 100 * second, completed: [0]), at: at(1000 * second)) }
        let reading = meter.take(report(done: 500, completed: [50]), at: at(6000))
        #expect(reading?.rate == 80)
        #expect(reading?.workerRates == [10])
    }

    @Test func `starts again with a new epoch`() {
        var meter = ProgressMeter()
        _ = meter.take(report(done: 900, completed: [900], epoch: 2), at: at(0))
        let reading = meter.take(report(done: 3, completed: [1], epoch: 3), at: at(1000))
        #expect(reading?.rate == nil)
    }

    @Test func `counts processes that run effects, not observers and not the reducer's own`() {
        var report = report(done: 1, completed: [1, 1, 1])
        report.peers[1].capacity = 0
        report.peers[2].groups = ["(local)"]
        var meter = ProgressMeter()
        #expect(meter.take(report, at: at(0))?.workers == 1)
    }
}

@Suite struct `A line of progress` {
    private func reading(workers: [Double], note: String? = "412 links, 3 broken") -> ProgressReading {
        var reading = ProgressReading(
            loop: "check", progress: Progress(done: 412, found: 1203, unit: "pages", note: note), workers: workers.count
        )
        reading.rate = workers.reduce(0, +)
        reading.workerRates = workers
        return reading
    }

    @Test func `has everything where there is room`() {
        #expect(
            reading(workers: [21, 20.4, 22, 9.6]).text(columns: nil)
                == "412 of 1203 pages, 34 %, 73/s, 11 s left, 4 workers (21 20 22 9.6/s), 412 links, 3 broken")
    }

    @Test(arguments: [
        (85, "412 of 1203 pages, 34 %, 73/s, 11 s left, 4 workers (21 20 22 9.6/s), 3 broken"),
        (76, "412 of 1203 pages, 73/s, 11 s left, 4 workers (21 20 22 9.6/s), 3 broken"),
        (71, "412 of 1203 pages, 73/s, 11 s left, 4 workers (9.6–22/s each), 3 broken"),
        (65, "412 of 1203 pages, 73/s, 11 s left, 4 workers (9.6–22/s each)"),
        (60, "412 of 1203 pages, 73/s, 11 s left, 4 workers, 3 broken"),
        (50, "412 of 1203 pages, 73/s, 11 s left, 4 workers"), (10, "412 of 120"), (0, ""),
    ])
    func `leaves out what matters least where there is not`(columns: Int, line: String) {
        let text = reading(workers: [21, 20.4, 22, 9.6]).text(columns: columns)
        #expect(text == line)
        #expect(text.count <= columns)
    }

    @Test func `has a range for many workers`() {
        #expect(
            reading(workers: (1...9).map { Double($0 * 10) }, note: nil).text(columns: nil)
                == "412 of 1203 pages, 34 %, 450/s, 2 s left, 9 workers (10–90/s each)")
    }

    @Test func `has no rates before they are known`() {
        let progress = Progress(done: 0, found: 0, unit: "URLs")
        #expect(
            ProgressReading(loop: "l", progress: progress, workers: 1).text(columns: nil) == "0 of 0 URLs, 1 worker")
    }

    @Test(arguments: [
        (0.0, "0"), (0.04, "0"), (0.44, "0.4"), (9.94, "9.9"), (9.96, "10"), (1204.4, "1204"), (.infinity, "?"),
        (-1, "?"),
    ])
    func `has rates of two digits`(rate: Double, text: String) {
        #expect(ProgressReading.rateText(rate) == text)
    }

    @Test(arguments: [
        (0, "0 s"), (9, "9 s"), (60, "1 min"), (125, "2 min 5 s"), (3840, "1 h 4 min"), (266_400, "3 d 2 h"),
    ])
    func `has durations of two units`(seconds: Int, text: String) {
        #expect(ProgressReading.durationText(seconds: seconds) == text)
    }

    @Test func `is redrawn in its place, and only where it changes`() {
        var line = ProgressLine()
        #expect(line.clear() == "")
        #expect(line.show("a") == "a")
        #expect(line.show("a") == "")
        #expect(line.show("b") == "\r\u{1B}[2Kb")
        #expect(line.clear() == "\r\u{1B}[2K")
        #expect(line.clear() == "")
    }
}
