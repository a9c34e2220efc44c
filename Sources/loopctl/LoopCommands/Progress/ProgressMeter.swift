import LoopCluster
import LoopCore
import LoopWire

/// Computes rates from successive status reports. They cover only the last few seconds, so that a change is seen soon.
struct ProgressMeter: Sendable {
    private struct Sample {
        let time: MonotonicTime
        let done: Int
        /// The number of completed effects, by session.
        let completed: [UInt64: UInt64]
    }

    /// The epoch of the samples. Another epoch counts from zero.
    private var source: (history: String, epoch: UInt64)?
    private var samples: [Sample] = []
    private let window = Duration.seconds(5)

    /// - Returns: how far the loop is, or nil if it does not say.
    mutating func take(_ report: StatusReport, at now: MonotonicTime) -> ProgressReading? {
        guard let progress = report.progress else { return nil }
        if source?.history != report.history || source?.epoch != report.epoch {
            samples = []
        }
        source = (report.history, report.epoch)
        let workers = report.peers.filter(\.isWorker)
        let completed = Dictionary(workers.map { ($0.session, $0.completed) }, uniquingKeysWith: { first, _ in first })
        samples.append(Sample(time: now, done: progress.done, completed: completed))
        while samples.count > 2, now - samples[1].time >= window { samples.removeFirst() }

        var reading = ProgressReading(loop: report.loop, progress: progress, workers: workers.count)
        guard let first = samples.first, now > first.time else { return reading }
        let seconds = (now - first.time).inSeconds
        reading.rate = max(0, Double(progress.done) - Double(first.done)) / seconds
        reading.workerRates = workers.map { worker in
            let before = first.completed[worker.session] ?? 0
            return worker.completed >= before ? Double(worker.completed - before) / seconds : 0
        }
        return reading
    }
}

extension StatusReport.Peer {
    /// Whether the peer is a process that runs effects, and neither an observer nor the reducer's own process.
    var isWorker: Bool { capacity > 0 && groups != [localGroup] }
}

/// How far a loop is, and how fast.
struct ProgressReading: Equatable, Sendable {
    var loop: String
    var progress: Progress
    /// Units finished per second, or nil after only one report.
    var rate: Double?
    /// The number of present workers.
    var workers: Int
    /// Effects completed per second, for each worker; empty after only one report.
    var workerRates: [Double] = []

    init(loop: String, progress: Progress, workers: Int) {
        self.loop = loop
        self.progress = progress
        self.workers = workers
    }
}

extension ProgressReading {
    /// One line: `412 of 1203 pages, 34 %, 83/s, 10 s left, 4 workers (21 20 22 20/s), 3 broken`.
    ///
    /// - Parameter columns: the number of characters available, or nil for no limit. The least important parts are dropped first:
    ///   the head of the loop's own note, the percentage, each worker's rate. Then the end is cut.
    func text(columns: Int?) -> String {
        var notes = progress.note.map { $0.split(separator: ", ") } ?? []
        let full = Self.joined(pieces(.each, hasPercent: true) + notes.map(String.init))
        guard let columns, full.count > columns else { return full }
        while notes.count > 1 {
            notes.removeFirst()
            let text = Self.joined(pieces(.each, hasPercent: true) + notes.map(String.init))
            if text.count <= columns { return text }
        }
        let last = notes.map(String.init)
        for (detail, hasPercent, notes) in [
            (WorkerDetail.each, false, last), (.range, true, last), (.range, false, last), (.range, false, []),
            (.number, false, last), (.number, false, []),
        ] {
            let text = Self.joined(pieces(detail, hasPercent: hasPercent) + notes)
            if text.count <= columns { return text }
        }
        return String(Self.joined(pieces(.number, hasPercent: false)).prefix(max(0, columns)))
    }

    private enum WorkerDetail { case each, range, number }

    private static func joined(_ pieces: [String]) -> String { pieces.joined(separator: ", ") }

    private func pieces(_ detail: WorkerDetail, hasPercent: Bool) -> [String] {
        var pieces = ["\(progress.done) of \(progress.found) \(progress.unit)"]
        if hasPercent, progress.found > 0 {
            let done = Double(min(max(progress.done, 0), progress.found))
            pieces.append("\(Int(100 * done / Double(progress.found))) %")
        }
        if let rate { pieces.append("\(Self.rateText(rate))/s") }
        if let left { pieces.append("\(Self.durationText(seconds: left)) left") }
        return pieces + [workersText(detail)]
    }

    /// How long the rest takes at this rate, in seconds, if no more units are found. It is nil if that is not known.
    var left: Int? {
        guard let rate, rate > 0, progress.found > progress.done else { return nil }
        let seconds = (Double(progress.found) - Double(progress.done)) / rate
        return seconds < 1e7 ? Int(seconds.rounded(.up)) : nil
    }

    private func workersText(_ detail: WorkerDetail) -> String {
        let count = workers == 1 ? "1 worker" : "\(workers) workers"
        guard detail != .number, let least = workerRates.min(), let most = workerRates.max() else { return count }
        if detail == .each, workerRates.count <= 8 {
            return "\(count) (\(workerRates.map(Self.rateText).joined(separator: " "))/s)"
        }
        let range = [least, most].map(Self.rateText)
        return range[0] == range[1] ? "\(count) (\(range[0])/s each)" : "\(count) (\(range[0])–\(range[1])/s each)"
    }

    /// A rate with at least two digits: `0.4`, `8.3`, `83`, `1204`.
    static func rateText(_ rate: Double) -> String {
        guard rate.isFinite, rate >= 0, rate < 1e15 else { return "?" }
        let tenths = Int((rate * 10).rounded())
        return tenths >= 100 || tenths == 0 ? "\(Int(rate.rounded()))" : "\(tenths / 10).\(tenths % 10)"
    }

    /// A duration as `9 s`, `2 min 5 s`, `1 h 4 min`, `3 d 2 h`.
    static func durationText(seconds: Int) -> String {
        let units = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        guard let first = units.firstIndex(where: { seconds >= $0.0 }) else { return "0 s" }
        let head = "\(seconds / units[first].0) \(units[first].1)"
        guard first + 1 < units.count else { return head }
        let rest = seconds % units[first].0 / units[first + 1].0
        return rest == 0 ? head : "\(head) \(rest) \(units[first + 1].1)"
    }
}
