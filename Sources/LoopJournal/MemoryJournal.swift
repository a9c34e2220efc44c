package import LoopCluster
package import LoopCore
package import LoopWire

/// A journal that lasts as long as its process. Every start begins a new history.
///
/// It keeps the newest records up to a limit, for tools that show them. It keeps the promises G1, G2, G5, G6 and G9
/// to G13 within one reducer process, and none across its restart.
package struct MemoryJournal: Journal, Sendable {
    /// The history that the journal was made with.
    package let history: History
    /// The number of records appended so far, or 0 before the first.
    package private(set) var position: UInt64 = 0
    /// The newest appends, with at most about twice as many records as the limit.
    private var kept: [RecordLog] = []
    private var keptCount = 0
    private let keepsMax: Int

    /// Creates an empty journal.
    /// - Parameters:
    ///   - history: a random history, a new one for each journal.
    ///   - keepsMax: how many records are kept for tools; 0 keeps none. Up to twice as many may be kept for a time.
    package init(history: History, keepsMax: Int = 0) {
        self.history = history
        self.keepsMax = keepsMax
    }

    /// Counts the records, and keeps them if the limit allows. Returns the receipt at once.
    /// - Parameters:
    ///   - records: the records of a turn, in order; may be empty.
    ///   - position: the position of the last of them.
    /// - Throws: `JournalError` of kind `.misuse` if the records end at another position.
    package mutating func append(
        _ records: RecordLog, through position: UInt64
    ) throws(JournalError) -> JournalReceipt {
        self.position += UInt64(records.count)
        guard self.position == position else {
            throw JournalError(
                .misuse, operation: "append records through \(position)", reason: "they end at \(self.position)",
                remedy: "append the records of every turn, in order")
        }
        if keepsMax > 0, !records.isEmpty { keep(records) }
        return JournalReceipt(through: position)
    }

    private mutating func keep(_ records: RecordLog) {
        kept.append(records)
        keptCount += records.count
        guard keptCount > 2 * keepsMax else { return }
        var forgotten = 0
        while forgotten < kept.count - 1, keptCount - kept[forgotten].count >= keepsMax {
            keptCount -= kept[forgotten].count
            forgotten += 1
        }
        kept.removeFirst(forgotten)
    }

    /// The newest records, in order: as many as the limit, or a few more.
    package var records: [Record] { kept.flatMap { Array($0) } }

    /// Does nothing, because no record waits to be written.
    package mutating func flush() {}

    /// A page of the kept records after a position, in order. Empty at the end.
    /// - Parameters:
    ///   - position: the last position that is not wanted; 0 begins with the first record.
    ///   - bytesMax: the size of the page in bytes, with 64 assumed for a record; at least one record is returned if
    ///     there is one.
    /// - Throws: `JournalError` of kind `.trimmed` if the records after the position are no longer kept.
    package func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        let records = self.records
        let first = self.position - UInt64(records.count)
        guard position >= first else {
            throw JournalError(
                .trimmed, operation: "read the records after \(position)",
                reason: "a journal in memory keeps only the newest \(keepsMax)",
                remedy: "keep the loop's history in a file: --journal FILE")
        }
        return position < self.position ? Array(records[Int(position - first)...].prefix(max(1, bytesMax / 64))) : []
    }

    /// The seq of the oldest event that is kept, or nil if none is.
    package func firstSeq() -> Seq? {
        for case .event(let event) in records { return event.seq }
        return nil
    }

    /// The position before the oldest record that is kept, whatever the seq.
    package func position(before seq: Seq) -> UInt64 { position - UInt64(keptCount) }

    /// Always empty, because a journal in memory keeps no snapshots.
    package func snapshots() -> [SnapshotEntry] { [] }

    /// - Throws: always, `JournalError` of kind `.misuse`, because there are no snapshots.
    package func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8] {
        throw JournalError(
            .misuse, operation: "read a snapshot", reason: "a journal in memory has none",
            remedy: "keep the loop's history in a file: --journal FILE")
    }

    /// Always nil, because a journal in memory keeps no snapshots.
    package var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? { nil }

    /// Does nothing: a journal in memory keeps no snapshots.
    package mutating func add(_ snapshot: SnapshotEntry) {}

    /// Removes nothing, because the limit alone decides what is kept.
    /// - Returns: the seq of the oldest event that is kept, or 0 if none is.
    package mutating func trim(before seq: Seq) -> Seq { firstSeq() ?? .initial }

    /// Does nothing, because the journal ends with its process.
    package mutating func markEnded() {}

    /// Does nothing, because there are no files.
    package mutating func close() {}
}
