import LoopCluster
import LoopCore
import LoopWire

/// The journal as one process has it open on a disk.
struct SimulatedJournal: FollowedJournal {
    let disk: SimulatedDisk
    let durability: Durability
    private let owner: Int
    /// The error of the next append, or nil.
    var failure: JournalError.Kind?
    /// Whether an append has failed. Then nothing from this journal can be trusted.
    private var hasFailed = false
    private let rules: BrokenRules
    /// The newest row that its process knows to be there.
    let newestEnd: RowEnd
    /// The number of records that a follower reads at a time.
    private let pace: UInt64

    /// - Throws: `JournalError` of kind `.locked`.
    init(_ disk: SimulatedDisk, durability: Durability, rules: BrokenRules) throws(JournalError) {
        self.disk = disk
        self.durability = durability
        self.rules = rules
        owner = try disk.open()
        (newestEnd, pace) = (disk.newestEnd, .max)
    }

    /// Creates a journal that only reads, even if a process has the disk open.
    /// - Parameters:
    ///   - end: the newest row that its process knows to be there, or nil for the newest row.
    ///   - pace: about how many records a follower reads at a time.
    init(reading disk: SimulatedDisk, rules: BrokenRules, knowing end: RowEnd? = nil, pace: UInt64 = .max) {
        self.disk = disk
        self.rules = rules
        durability = .fsync
        owner = -1
        newestEnd = end ?? disk.newestEnd
        self.pace = pace
    }

    var history: History { disk.history }
    var position: UInt64 { disk.position }

    mutating func append(_ log: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt {
        let more = Array(log)
        if more.isEmpty { return JournalReceipt(through: position) }
        if let failure { throw fail(failure, "append \(more.count) records") }
        if hasFailed { throw fail(.failedDisk, "append to a journal that has failed") }
        guard disk.position + UInt64(more.count) == position else {
            throw JournalError(
                .misuse, operation: "append records through \(position)",
                reason: "\(disk.position) + \(more.count) records do not reach there",
                remedy: "append every turn's records, in order")
        }
        let outlivesPower = more.contains(where: \.outlivesPower) && !rules.contains(.numbersOutlivePower)
        disk.append(more, isSynced: durability == .fsync || outlivesPower)
        return JournalReceipt(through: position)
    }

    private mutating func fail(_ kind: JournalError.Kind, _ operation: String) -> JournalError {
        hasFailed = true
        return JournalError(kind, operation: operation, reason: "the disk failed", remedy: "open it again")
    }

    mutating func flush() { disk.sync() }

    func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        if rules.contains(.recordsFollowTheSnapshot), position > 0 { return [] }
        guard position >= disk.trimmed else {
            throw JournalError(
                .trimmed, operation: "read the records after \(position)", reason: "they were trimmed",
                remedy: "begin at a snapshot")
        }
        return Array(disk.records.dropFirst(Int(position)))
    }

    // MARK: Followers

    /// A follower may read another server than the leader's.
    var mayLag: Bool { true }

    func end(ofRowAt position: UInt64) -> RowEnd? { position < disk.trimmed ? nil : disk.end(ofRowAt: position) }

    /// Whether there is a row with this end.
    func contains(_ end: RowEnd) -> Bool { self.end(ofRowAt: end.position) == end }

    func page(after position: UInt64, checksum: UInt32?, bytesMax: Int) -> FollowedPage? {
        if let checksum, end(ofRowAt: position)?.checksum != checksum { return nil }
        guard position >= disk.trimmed, position <= disk.position else { return nil }
        // Whole rows, until there are enough records.
        let enough = pace < .max - position ? position + pace : .max
        let before = disk.rows.lastIndex { $0.position < enough } ?? 0
        let end = disk.rows[min(before + 1, disk.rows.count - 1)]
        guard end.position > position else { return FollowedPage(records: [], end: nil, newest: disk.position) }
        return FollowedPage(
            records: Array(disk.records[Int(position)..<Int(end.position)]), end: end, newest: disk.position)
    }

    func firstSeq() -> Seq? {
        for case .event(let event) in disk.records.dropFirst(Int(disk.trimmed)) { return event.seq }
        return nil
    }

    func position(before seq: Seq) -> UInt64 { disk.trimmed }

    func snapshots() -> [SnapshotEntry] { disk.snapshots.map(\.entry) }

    func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8] {
        guard let found = disk.snapshots.first(where: { $0.entry == snapshot }), !found.isDamaged else {
            throw JournalError(
                .corrupt, operation: "read the snapshot at seq \(snapshot.seq)", reason: "its checksum is another",
                remedy: "take the one before")
        }
        return found.bytes
    }

    var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? { nil }

    mutating func add(_ snapshot: SnapshotEntry) {}

    mutating func trim(before seq: Seq) -> Seq {
        disk.trim(before: seq)
        return firstSeq() ?? .initial
    }

    mutating func markEnded() {}

    mutating func close() { if disk.owner == owner { disk.release() } }
}
