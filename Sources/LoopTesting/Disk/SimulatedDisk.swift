import LoopCluster
import LoopCore
import LoopWire

/// What outlives a reducer's process: the records, the snapshots, and who has opened them.
final class SimulatedDisk {
    let history: History
    /// All records ever written, also those that were trimmed: checkers look at them, journals do not.
    private(set) var records: [Record] = []
    /// What was written and may be read; the newest snapshot first.
    private(set) var snapshots: [Snapshot] = []
    /// Records up to this position were trimmed.
    private(set) var trimmed: UInt64 = 0
    /// Records up to this position are safe from a loss of power; those after it are in memory only.
    private(set) var synced: UInt64 = 0
    /// The process that has it open; 0: none.
    private(set) var owner = 0
    private var owners = 0

    struct Snapshot {
        let entry: SnapshotEntry
        let bytes: [UInt8]
        var isDamaged = false
    }

    /// As SQLite's journal does it.
    private static let snapshotsMax = 2

    /// Whether every append is synced.
    private let alwaysSyncs: Bool

    init(history: History, alwaysSyncs: Bool) {
        self.history = history
        self.alwaysSyncs = alwaysSyncs
    }

    var position: UInt64 { UInt64(records.count) }

    /// - Returns: the number of the new owner.
    /// - Throws: of kind `.locked` while another one has it.
    func open() throws(JournalError) -> Int {
        guard owner == 0 else {
            throw JournalError(
                .locked, operation: "open", reason: "reducer \(owner) has it", remedy: "stop that one first")
        }
        owners += 1
        owner = owners
        return owner
    }

    /// A process has died, or has closed its journal.
    func release() { owner = 0 }

    // MARK: Copies

    /// What an operator has put aside.
    private struct Copy {
        let count: Int
        let snapshots: [Snapshot]
        let trimmed: UInt64
    }

    private var copy: Copy?

    /// An operator makes a copy, as it is on the disk, in place of an earlier one.
    func makeCopy() { copy = Copy(count: Int(synced), snapshots: snapshots, trimmed: trimmed) }

    /// Puts the copy back, and keeps it.
    /// - Returns: what is missing from there on; nil: there is no copy, or nothing has come since, or it is of another history.
    func putBackCopy() -> [Record]? {
        guard let copy, copy.count < records.count else { return nil }
        let since = records[copy.count...]
        if since.contains(where: { if case .historyBegun = $0 { true } else { false } }) { return nil }
        records.removeLast(since.count)
        (snapshots, trimmed, synced) = (copy.snapshots, copy.trimmed, position)
        return Array(since)
    }

    func append(_ more: some Sequence<Record>, isSynced: Bool) {
        records += more
        if isSynced { synced = position }
    }

    func sync() { synced = position }

    /// What was written but not synced is lost, from some place on.
    /// - Parameter kept: the share of it that reached the disk all the same.
    /// - Returns: what is lost.
    func losePower(keeping kept: Double) -> [Record] {
        losePower(behind: synced + UInt64(Double(position - synced) * kept))
    }

    /// What was written after a position is lost, but for what was synced.
    func losePower(behind last: UInt64) -> [Record] {
        let lost = Array(records[Int(max(last, synced))...])
        records.removeLast(lost.count)
        if let copy, copy.count > records.count { self.copy = nil }
        return lost
    }

    /// Synced, with everything before it: the file of the snapshot that it replaces is gone for good.
    func add(_ snapshot: Snapshot, breaking rules: BrokenRules) {
        if !rules.contains(.snapshotsFollowTheirRecords) { sync() }
        // One that stood at the same place is replaced.
        snapshots.removeAll { $0.entry.position == snapshot.entry.position }
        snapshots.insert(snapshot, at: 0)
        // The one at the cut of a trimmed journal stays.
        let stays = trimmed > 0 ? 1 : 0
        if snapshots.count > Self.snapshotsMax + stays { snapshots.remove(at: snapshots.count - 1 - stays) }
    }

    /// Damages the newest snapshot, unless a recovery would be impossible without it.
    /// - Returns: whether there was one.
    func damageNewestSnapshot() -> Bool {
        guard let newest = snapshots.first, !newest.isDamaged, trimmed == 0 || isSafeWithoutNewest else { return false }
        snapshots[0].isDamaged = true
        return true
    }

    /// Whether the snapshot before the newest is sound, and no loss of power takes one that comes after it. A disk that
    /// both loses and damages what was written to it is beyond what a journal can promise.
    private var isSafeWithoutNewest: Bool { alwaysSyncs && snapshots.dropFirst().contains { !$0.isDamaged } }

    /// Forgets the records below a seq, up to a sound snapshot that is not the newest one.
    func trim(before seq: Seq) {
        let sound = snapshots.filter { !$0.isDamaged }
        guard let cut = sound.dropFirst().first(where: { $0.entry.seq < seq }) else { return }
        trimmed = max(trimmed, min(cut.entry.position, position))
        snapshots.removeAll { $0.entry.position < trimmed }
        sync()
    }
}
