import LoopCluster
import LoopCore
import LoopCollections
import LoopNode
import LoopWire

/// The records of a journal in memory. Like a file, they outlive the reducer that wrote them.
final class KeptRecords: Sendable {
    fileprivate struct Content {
        var history = History(SystemRandom.uint64() | 1)
        var records: [Record] = []
        /// Whether the outcome of the run was reported. Then the next opening begins a new run.
        var hasEnded = false
        /// The number of the opening that may write, or 0 for none.
        var owner = 0
        var openingsCount = 0
    }

    fileprivate let content = Locked(Content())

    var place: JournalPlace {
        JournalPlace(
            path: { _ in nil }, open: { _ throws(JournalError) in try self.open() },
            read: { _, _ throws(JournalError) in KeptJournal(kept: self, owner: 0) })
    }

    private func open() throws(JournalError) -> KeptJournal {
        let owner: Int? = content.withLock { content in
            guard content.owner == 0 else { return nil }
            if content.hasEnded { content = Content(openingsCount: content.openingsCount) }
            content.openingsCount += 1
            content.owner = content.openingsCount
            return content.owner
        }
        guard let owner else {
            throw JournalError(
                .locked, operation: "open a journal in memory", reason: "another reducer has it",
                remedy: "kill or stop that one first")
        }
        return KeptJournal(kept: self, owner: owner)
    }
}

/// One reducer's access to kept records, to write or only to read.
struct KeptJournal: Journal {
    fileprivate let kept: KeptRecords
    /// The number of the opening, or 0 if it only reads.
    fileprivate let owner: Int

    var history: History { kept.content.withLock { $0.history } }
    var position: UInt64 { kept.content.withLock { UInt64($0.records.count) } }

    mutating func append(_ records: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt {
        let fits = kept.content.withLock { content in
            guard content.owner == owner, owner > 0, UInt64(content.records.count + records.count) == position else {
                return false
            }
            content.records += records
            return true
        }
        guard fits else {
            throw JournalError(
                .misuse, operation: "append records through \(position)", reason: "it is closed, or ends elsewhere",
                remedy: "append the records of every turn, in order")
        }
        return JournalReceipt(through: position)
    }

    mutating func flush() {}

    func records(after position: UInt64, bytesMax: Int) -> [Record] {
        // About as many records as fit, because a record of a few hundred bytes is a large one.
        kept.content.withLock { Array($0.records.dropFirst(Int(position)).prefix(max(1, bytesMax / 256))) }
    }

    func firstSeq() -> Seq? {
        kept.content.withLock { content in
            for case .event(let event) in content.records { return event.seq }
            return nil
        }
    }

    func position(before seq: Seq) -> UInt64 { 0 }
    func snapshots() -> [SnapshotEntry] { [] }

    func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8] {
        throw JournalError(
            .misuse, operation: "read a snapshot", reason: "a journal in memory has none",
            remedy: "give the cluster a journal that is a file")
    }

    var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? { nil }
    mutating func add(_ snapshot: SnapshotEntry) {}
    mutating func trim(before seq: Seq) -> Seq { firstSeq() ?? .initial }
    mutating func markEnded() { kept.content.withLock { $0.hasEnded = true } }

    mutating func close() {
        kept.content.withLock { content in
            if owner > 0, content.owner == owner { content.owner = 0 }
        }
    }
}
