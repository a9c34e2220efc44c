import LoopCore
import LoopWire

/// What bodies have reported of their progress: the newest of each attempt is told with a heartbeat, if it is another than the
/// one that was told before. Nothing is repeated that was lost: a newer report comes.
struct ProgressReports: Sendable {
    private var newest: [EffectID: AttemptProgress] = [:]
    /// What the reducer was not told yet.
    private var untold: Set<EffectID> = []

    var isEmpty: Bool { newest.isEmpty }

    mutating func note(_ report: AttemptProgress) {
        guard newest[report.effect] != report else { return }
        newest[report.effect] = report
        untold.insert(report.effect)
    }

    /// The reducer that hears this peer from here on knows nothing.
    mutating func begin() { untold = Set(newest.keys) }

    /// What is to be told now, in parts of at most a number of bytes; what belongs to attempts that run no more is dropped.
    mutating func take(bytesMax: Int, runs: (EffectID, Attempt) -> Bool) -> [[AttemptProgress]] {
        if newest.isEmpty { return [] }
        newest = newest.filter { runs($0.key, $0.value.attempt) }
        let reports = untold.sorted().compactMap { newest[$0] }
        untold.removeAll(keepingCapacity: true)
        let size = max(1, bytesMax / AttemptProgress.byteCountMax)
        return stride(from: 0, to: reports.count, by: size).map { Array(reports[$0..<min($0 + size, reports.count)]) }
    }
}
