import LoopCluster
import LoopCollections
import LoopCore
import LoopWire

/// What a reducer counts for its metrics besides its status. The reducer's thread notes, and the server's thread reads.
final class ReducerMeter: Sendable {
    struct Figures: Sendable {
        var turns = Histogram()
        var appends = Histogram()
        var appendFailures: [String: UInt64] = [:]
        var epochsCount: UInt64 = 0
        var recovery: (applied: UInt64, total: UInt64)?
        var recoveryDuration: Duration?
        var snapshots: (written: UInt64, failed: UInt64) = (0, 0)
        /// The newest position, and that of the newest snapshot.
        var positions: (newest: UInt64, snapshot: UInt64) = (0, 0)
        var snapshotAt: MonotonicTime?
    }

    private let content = Locked(Figures())

    var figures: Figures { content.withLock { $0 } }

    func note(_ change: (inout Figures) -> Void) { content.withLock { change(&$0) } }
}
