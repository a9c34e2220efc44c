import LoopCluster
import LoopCore
import LoopWire

/// A journal of rows that a test appends, takes back, replaces and trims, while another reader follows it.
final class FollowedRows: FollowedJournal {
    private struct Row {
        var records: [Record]
        var end: RowEnd
    }

    private(set) var history = ReducerBench.history
    private var rows: [Row] = []
    private var base = RowEnd(position: 0, checksum: 0)
    private var listed: [(entry: SnapshotEntry, bytes: [UInt8])] = []
    /// How many records were read.
    private(set) var readCount = 0
    /// What the next read throws.
    var failure: JournalError.Kind?
    /// Whether the leader may write to another server.
    var mayLag = false

    var newestEnd: RowEnd { rows.last?.end ?? base }
    var position: UInt64 { newestEnd.position }

    /// Appends a row. Rows of other salts have other checksums.
    func append(_ records: [Record], salt: UInt32 = 1) {
        let before = newestEnd
        let checksum = before.checksum &* 31 &+ UInt32(records.count) &+ salt
        rows.append(
            Row(records: records, end: RowEnd(position: before.position + UInt64(records.count), checksum: checksum)))
    }

    /// A failover has lost the newest rows.
    func lose(_ count: Int) { rows.removeLast(count) }

    /// Keeps the rows behind the first ones, and a snapshot of what is gone.
    func trim(_ count: Int, keeping snapshot: [UInt8], seq: Seq, fingerprint: UInt64) {
        base = rows[count - 1].end
        rows.removeFirst(count)
        list(snapshot, at: base.position, seq: seq, fingerprint: fingerprint)
    }

    /// The one snapshot that there is.
    func list(_ snapshot: [UInt8], at position: UInt64, seq: Seq, fingerprint: UInt64) {
        let entry = SnapshotEntry(position: position, seq: seq, fingerprint: fingerprint, byteCount: snapshot.count)
        listed = [(entry, snapshot)]
    }

    func append(_ records: RecordLog, through position: UInt64) -> JournalReceipt {
        append(Array(records))
        return JournalReceipt(through: position)
    }

    func flush() {}

    func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        guard position >= base.position else {
            throw JournalError(.trimmed, operation: "be read", reason: "a test", remedy: "begin later")
        }
        let records = rows.flatMap { row in
            let first = row.end.position - UInt64(row.records.count)
            return first >= position ? row.records : Array(row.records.dropFirst(Int(position - first)))
        }
        readCount += records.count
        return records
    }

    func end(ofRowAt position: UInt64) throws(JournalError) -> RowEnd? {
        if let failure { throw JournalError(failure, operation: "be read", reason: "a test", remedy: "wait") }
        return position == base.position ? base : rows.first { $0.end.position == position }?.end
    }

    /// A row in each page.
    func page(after position: UInt64, checksum: UInt32?, bytesMax: Int) throws(JournalError) -> FollowedPage? {
        if let checksum, try end(ofRowAt: position)?.checksum != checksum { return nil }
        guard let row = rows.first(where: { $0.end.position > position }) else {
            return FollowedPage(records: [], end: nil, newest: self.position)
        }
        let first = row.end.position - UInt64(row.records.count)
        return FollowedPage(
            records: Array(row.records.dropFirst(Int(position - first))), end: row.end, newest: self.position)
    }

    func firstSeq() -> Seq? {
        rows.lazy.flatMap(\.records).compactMap { if case .event(let event) = $0 { event.seq } else { nil } }.first
    }

    func position(before seq: Seq) -> UInt64 { base.position }
    func snapshots() -> [SnapshotEntry] { listed.map(\.entry) }
    func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8] {
        if let failure { throw JournalError(failure, operation: "be read", reason: "a test", remedy: "wait") }
        return listed.first { $0.entry == snapshot }?.bytes ?? []
    }
    var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? { nil }
    func add(_ snapshot: SnapshotEntry) {}
    func trim(before seq: Seq) -> Seq { seq }
    func markEnded() {}
    func close() {}

    /// Another run has the place of the loop's journal.
    func beginAgain() { (history, rows, base, listed) = (History(0x5678), [], RowEnd(position: 0, checksum: 0), []) }
}
