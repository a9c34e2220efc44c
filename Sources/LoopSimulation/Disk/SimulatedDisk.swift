import LoopCluster
import LoopCore
import LoopWire

/// The state that survives a reducer's process: the records, the snapshots, and the process that has opened them.
final class SimulatedDisk {
    let history: History
    /// All records ever written, even those that were trimmed. Checkers read the trimmed ones, journals do not.
    private(set) var records: [Record] = []
    /// The written snapshots that may be read, the newest first.
    private(set) var snapshots: [Snapshot] = []
    /// Records up to this position were trimmed.
    private(set) var trimmed: UInt64 = 0
    /// Records up to this position survive a loss of power. Those after it are only in memory.
    private(set) var synced: UInt64 = 0
    /// The ends of a database's rows, from the beginning on. A file has none.
    private(set) var rows = [RowEnd.start]
    /// The number of failovers that have lost records.
    private(set) var lossesCount = 0
    /// The number of the process that has it open, or 0.
    private(set) var owner = 0
    private var owners = 0

    struct Snapshot {
        let entry: SnapshotEntry
        let bytes: [UInt8]
        var isDamaged = false
    }

    /// The number of snapshots that are kept, as in SQLite's journal.
    private static let snapshotsMax = 2

    /// Whether every append is synced.
    private let alwaysSyncs: Bool

    init(history: History, alwaysSyncs: Bool) {
        self.history = history
        self.alwaysSyncs = alwaysSyncs
    }

    var position: UInt64 { UInt64(records.count) }

    /// - Returns: the number of the new owner.
    /// - Throws: `JournalError` of kind `.locked` while another owner has it.
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

    /// The copy that an operator has made.
    private struct Copy {
        let count: Int
        let snapshots: [Snapshot]
        let trimmed: UInt64
    }

    private var copy: Copy?

    /// An operator makes a copy of what is on the disk, and replaces an earlier copy.
    func makeCopy() { copy = Copy(count: Int(synced), snapshots: snapshots, trimmed: trimmed) }

    /// Puts the copy back, and keeps it.
    /// - Returns: the records that are missing from now on. Nil without a change if there is no copy, if nothing has been written
    ///   since, or if another history has begun since.
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

    /// Appends the records of a database's row.
    func append(_ batch: SimulatedBatch, isSynced: Bool) {
        append(batch.log, isSynced: isSynced)
        rows.append(RowEnd(position: position, checksum: batch.end.checksum))
    }

    /// The end of the newest row.
    var newestEnd: RowEnd { rows[rows.count - 1] }

    /// The end of the row that ends with a record, or nil if none ends there. It may be trimmed.
    func end(ofRowAt position: UInt64) -> RowEnd? {
        rows.last { $0.position <= position }.flatMap { $0.position == position ? $0 : nil }
    }

    /// The disk of a server that has these rows only, and does not advance any more.
    func standingStill(at end: RowEnd) -> SimulatedDisk {
        let still = SimulatedDisk(history: history, alwaysSyncs: alwaysSyncs)
        still.records = Array(records.prefix(Int(end.position)))
        still.rows = rows.filter { $0.position <= end.position }
        still.snapshots = snapshots.filter { $0.entry.position <= end.position }
        (still.trimmed, still.lossesCount) = (trimmed, lossesCount)
        return still
    }

    func sync() { synced = position }

    /// Loses power: what was written but not synced is lost, from some position on.
    /// - Parameter kept: the share of the unsynced records that reached the disk anyway.
    /// - Returns: the lost records.
    func losePower(keeping kept: Double) -> [Record] {
        losePower(behind: synced + UInt64(Double(position - synced) * kept))
    }

    /// Loses power: unsynced records after a position are lost.
    func losePower(behind last: UInt64) -> [Record] {
        let lost = Array(records[Int(max(last, synced))...])
        records.removeLast(lost.count)
        rows.removeAll { $0.position > position }
        if let copy, copy.count > records.count { self.copy = nil }
        return lost
    }

    /// A database's standby takes its place, which lacks the records after a position.
    func failOver(behind last: UInt64) -> [Record] {
        let lost = losePower(behind: last)
        if !lost.isEmpty { lossesCount += 1 }
        return lost
    }

    /// Adds a snapshot. Syncs everything before it, because the file of the replaced snapshot is lost for good.
    func add(_ snapshot: Snapshot, breaking rules: BrokenRules) {
        if !rules.contains(.snapshotsFollowTheirRecords) { sync() }
        // A snapshot at an equal position is replaced.
        snapshots.removeAll { $0.entry.position == snapshot.entry.position }
        snapshots.insert(snapshot, at: 0)
        // The snapshot at the cut of a trimmed journal stays.
        let stays = trimmed > 0 ? 1 : 0
        if snapshots.count > Self.snapshotsMax + stays { snapshots.remove(at: snapshots.count - 1 - stays) }
    }

    /// Damages the newest snapshot, unless a recovery would be impossible without it.
    /// - Returns: whether a snapshot was damaged.
    func damageNewestSnapshot() -> Bool {
        guard let newest = snapshots.first, !newest.isDamaged, trimmed == 0 || isSafeWithoutNewest else { return false }
        snapshots[0].isDamaged = true
        return true
    }

    /// Whether the snapshot before the newest is intact, and no loss of power takes a later one. No journal can survive a disk that
    /// both loses and damages what was written to it.
    private var isSafeWithoutNewest: Bool { alwaysSyncs && snapshots.dropFirst().contains { !$0.isDamaged } }

    /// Removes the records below a seq, up to an intact snapshot that is not the newest one.
    func trim(before seq: Seq) {
        let sound = snapshots.filter { !$0.isDamaged }
        guard let cut = sound.dropFirst().first(where: { $0.entry.seq < seq }) else { return }
        trimmed = max(trimmed, min(cut.entry.position, position))
        snapshots.removeAll { $0.entry.position < trimmed }
        sync()
    }
}

extension RowEnd {
    /// The end before the first row.
    static var start: RowEnd { RowEnd(position: 0, checksum: 0) }
}
