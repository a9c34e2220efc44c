import LoopCore
import LoopWire

/// The newest progress of each attempt. A report leaves with a heartbeat if it differs from the one before. A lost report is
/// not repeated, because a newer one follows.
struct ProgressReports: Sendable {
    private var newest: [EffectID: AttemptProgress] = [:]
    /// The effects with a report that was not sent yet.
    private var untold: Set<EffectID> = []

    var isEmpty: Bool { newest.isEmpty }

    mutating func note(_ report: AttemptProgress) {
        guard newest[report.effect] != report else { return }
        newest[report.effect] = report
        untold.insert(report.effect)
    }

    /// Marks all reports as not sent, for a reducer that knows none of them.
    mutating func begin() { untold = Set(newest.keys) }

    /// Takes the reports to be sent now, in parts of at most a number of bytes. Reports of attempts that no longer run are dropped.
    mutating func take(bytesMax: Int, runs: (EffectID, Attempt) -> Bool) -> [[AttemptProgress]] {
        if newest.isEmpty { return [] }
        newest = newest.filter { runs($0.key, $0.value.attempt) }
        let reports = untold.sorted().compactMap { newest[$0] }
        untold.removeAll(keepingCapacity: true)
        let size = max(1, bytesMax / AttemptProgress.byteCountMax)
        return stride(from: 0, to: reports.count, by: size).map { Array(reports[$0..<min($0 + size, reports.count)]) }
    }
}
