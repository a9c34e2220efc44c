import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopWire

/// A disk of a test whose journal gives a receipt only when it is waited for: as many turns overlap as ever may. Records are on
/// the disk with their receipt, and not before.
final class LateDisk: Sendable {
    struct Content {
        /// The most appends that were ever on their way.
        var sentMax = 0
        /// The next append fails that is waited for while another one is on its way behind it.
        var failsNext = false
        /// What was done although appends were on their way.
        var violations: [String] = []
    }

    let disk = TestDisk()
    let content = Locked(Content())

    /// The seq of the newest event that is on the disk.
    var seq: Seq {
        disk.content.withLock { content in
            for case .event(let event) in content.records.reversed() { return event.seq }
            return .initial
        }
    }

    var place: JournalPlace {
        JournalPlace(
            path: { _ in nil },
            open: { _ throws(JournalError) in
                self.disk.content.withLock { $0.openCount += 1 }
                return LateJournal(self)
            },
            read: { _, _ throws(JournalError) in TestDiskJournal(disk: self.disk) })
    }
}

/// One opening of the late disk's journal.
private final class LateJournal: Journal {
    private let late: LateDisk
    private let base: TestDiskJournal
    private var hasFailed = false
    private var sent: [(records: RecordLog, position: UInt64)] = []

    init(_ late: LateDisk) {
        self.late = late
        base = TestDiskJournal(disk: late.disk)
    }

    func append(_ records: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt {
        check("append")
        return try base.append(records, through: position)
    }

    func beginAppend(_ records: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt? {
        if records.isEmpty { return sent.isEmpty ? try base.append(records, through: position) : nil }
        sent.append((records, position))
        late.content.withLock { $0.sentMax = max($0.sentMax, sent.count) }
        return nil
    }

    func takeReceipt(waits: Bool) throws(JournalError) -> JournalReceipt? {
        guard waits, !sent.isEmpty else { return nil }
        let fails = late.content.withLock { content in
            guard content.failsNext, sent.count > 1 else { return false }
            content.failsNext = false
            return true
        }
        if fails {
            late.disk.fail(.failedDisk)
            hasFailed = true
        }
        let append = sent.removeFirst()
        return try base.append(append.records, through: append.position)
    }

    /// - Parameter name: what must not be done while appends are on their way.
    private func check(_ name: String) {
        if !sent.isEmpty { late.content.withLock { $0.violations.append(name) } }
    }

    var history: History { base.history }
    var position: UInt64 { base.position }
    func prove() throws(JournalError) { try base.prove() }
    func flush() { check("flush") }

    func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        try base.records(after: position, bytesMax: bytesMax)
    }

    func firstSeq() -> Seq? { base.firstSeq() }
    func position(before seq: Seq) -> UInt64 { base.position(before: seq) }
    func snapshots() -> [SnapshotEntry] { base.snapshots() }
    func content(of snapshot: SnapshotEntry) -> [UInt8] { base.content(of: snapshot) }

    var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? {
        guard let write = base.snapshotWriter else { return nil }
        return { [late] entry, bytes throws(JournalError) in
            let isThere = late.disk.content.withLock { entry.position <= $0.records.count }
            if !isThere { late.content.withLock { $0.violations.append("snapshot") } }
            return try write(entry, bytes)
        }
    }

    func add(_ snapshot: SnapshotEntry) {}

    func trim(before seq: Seq) -> Seq {
        check("trim")
        return base.trim(before: seq)
    }

    func markEnded() {
        check("mark the end")
        base.markEnded()
    }

    func close() {
        // After an error they are given up.
        if !hasFailed { check("close") }
        base.close()
    }
}
