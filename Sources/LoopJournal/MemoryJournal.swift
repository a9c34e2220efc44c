public import LoopCluster
public import LoopCore
public import LoopWire

/// A journal that lasts as long as its process: every start begins a new history.
///
/// It keeps the newest records up to a limit for those who want to look. What it promises: G1, G2, G5, G6 and G9 to G13
/// within one reducer process; nothing across its restart.
public struct MemoryJournal: Journal, Sendable {
    public let history: History
    public private(set) var position: UInt64 = 0
    /// The newest appends, of about twice as many records as the limit at most.
    private var kept: [RecordLog] = []
    private var keptCount = 0
    private let keepsMax: Int

    /// - Parameters:
    ///   - history: random; new for each journal.
    ///   - keepsMax: how many records are kept; 0 keeps none.
    public init(history: History, keepsMax: Int = 0) {
        self.history = history
        self.keepsMax = keepsMax
    }

    public mutating func append(
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

    /// The newest records, as many as the limit says, or a few more.
    public var records: [Record] { kept.flatMap { Array($0) } }

    public mutating func flush() {}

    public func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        let records = self.records
        let first = self.position - UInt64(records.count)
        guard position >= first else {
            throw JournalError(
                .misuse, operation: "read the records after \(position)",
                reason: "a journal in memory keeps only the newest \(keepsMax)",
                remedy: "keep the loop's history in a file: --journal FILE")
        }
        return position < self.position ? Array(records[Int(position - first)...].prefix(max(1, bytesMax / 64))) : []
    }

    public func firstSeq() -> Seq? {
        for case .event(let event) in records { return event.seq }
        return nil
    }

    public func position(before seq: Seq) -> UInt64 { position - UInt64(keptCount) }

    public func snapshots() -> [SnapshotEntry] { [] }

    public func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8] {
        throw JournalError(
            .misuse, operation: "read a snapshot", reason: "a journal in memory has none",
            remedy: "keep the loop's history in a file: --journal FILE")
    }

    public var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? { nil }

    public mutating func add(_ snapshot: SnapshotEntry) {}

    public mutating func trim(before seq: Seq) -> Seq { firstSeq() ?? .initial }

    public mutating func markEnded() {}

    public mutating func close() {}
}
