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
        /// How long a recovery took for each record. Nil until one has taken a tenth of a second.
        var replayPerRecord: Duration?
        var snapshots: (written: UInt64, failed: UInt64) = (0, 0)
        /// The newest position, and that of the newest snapshot.
        var positions: (newest: UInt64, snapshot: UInt64) = (0, 0)
        var snapshotAt: MonotonicTime?
        /// The size of the newest snapshot in bytes; 0 if there is none.
        var snapshotByteCount = 0
        var effects: [EffectFigures] = []
        /// What the last look at the database of the journal has shown, or nil without one.
        var database: DatabaseFigures?

        /// How many records a recovery would have to apply, or nil if this process has appended none.
        var recordsSinceSnapshot: UInt64? {
            positions.newest == 0 ? nil : positions.newest - min(positions.newest, positions.snapshot)
        }
    }

    private let content = Locked(Figures())

    var figures: Figures { content.withLock { $0 } }

    func note(_ change: (inout Figures) -> Void) { content.withLock { change(&$0) } }
}
