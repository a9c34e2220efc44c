import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopWire

/// A disk of a test: what one opening of the journal wrote is there at the next, and it fails on request.
final class TestDisk: Sendable {
    struct Content {
        let history = History(SystemRandom.uint64() | 1)
        var records: [Record] = []
        var snapshots: [(entry: SnapshotEntry, bytes: [UInt8])] = []
        var hasEnded = false
        /// How many appends are to fail, and how.
        var failures: [JournalError.Kind] = []
        /// How many reads are to fail, and how.
        var readFailures: [JournalError.Kind] = []
        /// Another process leads: nothing can be proven.
        var hasOtherLeader = false
        var openCount = 0
        var appendCount = 0
    }

    let content = Locked(Content())
    private let isFollowed: Bool
    /// Tells that a snapshot was written.
    let news: AsyncStream<Void>
    fileprivate let post: AsyncStream<Void>.Continuation

    /// - Parameter isFollowed: whether its journal can be compared with a state.
    init(isFollowed: Bool = false) {
        self.isFollowed = isFollowed
        (news, post) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The next appends fail like this, one after the other.
    func fail(_ kinds: JournalError.Kind...) { content.withLock { $0.failures = kinds } }

    var place: JournalPlace {
        JournalPlace(
            path: { _ in nil },
            open: { _ throws(JournalError) in
                self.content.withLock { $0.openCount += 1 }
                return self.isFollowed ? ComparedDiskJournal(disk: self) : TestDiskJournal(disk: self)
            },
            read: { _, _ throws(JournalError) in TestDiskJournal(disk: self) })
    }
}

/// One opening of the disk's journal. Once an append has failed, every later one does.
class TestDiskJournal: Journal {
    fileprivate let disk: TestDisk
    private var hasFailed = false

    private let onClose: @Sendable () -> Void

    init(disk: TestDisk, onClose: @escaping @Sendable () -> Void = {}) {
        self.disk = disk
        self.onClose = onClose
    }

    var history: History { disk.content.withLock { $0.history } }
    var position: UInt64 { disk.content.withLock { UInt64($0.records.count) } }

    func append(_ records: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt {
        let failure: JournalError.Kind? = disk.content.withLock { content in
            if hasFailed { return .misuse }
            guard !records.isEmpty else { return nil }
            if !content.failures.isEmpty { return content.failures.removeFirst() }
            content.records += records
            content.appendCount += 1
            return UInt64(content.records.count) == position ? nil : .misuse
        }
        guard let failure else { return JournalReceipt(through: position) }
        hasFailed = true
        throw JournalError(
            failure, operation: "append records through \(position)", reason: "the test says so", remedy: "wait")
    }

    func prove() throws(JournalError) {
        guard disk.content.withLock({ $0.hasOtherLeader }) else { return }
        throw JournalError(
            .locked, operation: "prove that it leads", reason: "another reducer does", remedy: "wait for it")
    }

    func flush() {}

    func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        let failure = disk.content.withLock { $0.readFailures.isEmpty ? nil : $0.readFailures.removeFirst() }
        if let failure {
            throw JournalError(
                failure, operation: "read the records after \(position)", reason: "the test says so", remedy: "wait")
        }
        return disk.content.withLock { Array($0.records.dropFirst(Int(position)).prefix(max(1, bytesMax / 100))) }
    }

    func firstSeq() -> Seq? { nil }
    func position(before seq: Seq) -> UInt64 { 0 }
    func snapshots() -> [SnapshotEntry] { disk.content.withLock { $0.snapshots.map(\.entry).reversed() } }

    func content(of snapshot: SnapshotEntry) -> [UInt8] {
        disk.content.withLock { $0.snapshots.first { $0.entry == snapshot }?.bytes ?? [] }
    }

    var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? {
        { [disk] entry, bytes throws(JournalError) in
            defer { disk.post.yield() }
            return disk.content.withLock { content in
                var entry = entry
                entry.byteCount = bytes.count
                content.snapshots.append((entry, bytes))
                return entry
            }
        }
    }

    func add(_ snapshot: SnapshotEntry) {}
    func trim(before seq: Seq) -> Seq { Seq(1) }
    func markEnded() { disk.content.withLock { $0.hasEnded = true } }
    func close() { onClose() }
}

/// A journal whose row may end with each record.
class ComparedDiskJournal: TestDiskJournal, FollowedJournal {
    func end(ofRowAt position: UInt64) -> RowEnd? {
        let records = disk.content.withLock { $0.records.prefix(Int(position)) }
        guard records.count == Int(position) else { return nil }
        let checksum = UInt32(truncatingIfNeeded: StableHash.fnv1a(RecordLog(records).bytes))
        return RowEnd(position: position, checksum: checksum)
    }

    var newestEnd: RowEnd { end(ofRowAt: position) ?? RowEnd(position: 0, checksum: 0) }

    func page(after position: UInt64, checksum: UInt32?, bytesMax: Int) throws(JournalError) -> FollowedPage? {
        if let checksum, end(ofRowAt: position)?.checksum != checksum { return nil }
        let records = try records(after: position, bytesMax: bytesMax)
        return FollowedPage(
            records: records, end: end(ofRowAt: position + UInt64(records.count)), newest: self.position)
    }
}
