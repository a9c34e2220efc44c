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
