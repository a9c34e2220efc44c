internal import LoopCollections
package import LoopCluster
package import LoopCore
package import LoopWire

/// Records in memory. Like a file, they outlive the reducer that wrote them.
package final class MemoryRecords: Sendable {
    fileprivate struct Content {
        var history: History
        var position: UInt64 = 0
        /// The records up to the position, if they are kept.
        var records: [Record] = []
        /// Whether the outcome of the run was reported. Then the next opening begins a new run.
        var hasEnded = false
        /// The number of the opening that may write, or 0 for none.
        var owner = 0
        var openingsCount = 0
    }

    fileprivate let content: Locked<Content>
    /// Whether the records are kept, and not only counted.
    fileprivate let keeps: Bool
    private let newHistory: @Sendable () -> History

    /// Creates an empty store.
    /// - Parameter newHistory: makes a random history for each run.
    package convenience init(newHistory: @escaping @Sendable () -> History) {
        self.init(Content(history: newHistory()), keeps: true, newHistory: newHistory)
    }

    fileprivate init(_ content: Content, keeps: Bool, newHistory: @escaping @Sendable () -> History) {
        self.content = Locked(content)
        self.keeps = keeps
        self.newHistory = newHistory
    }

    /// Opens the journal of these records, to write and to read.
    /// - Throws: `JournalError` of kind `.locked` if another reducer has it.
    package func open() throws(JournalError) -> MemoryJournal {
        let owner: Int? = content.withLock { content in
            guard content.owner == 0 else { return nil }
            if content.hasEnded { content = Content(history: newHistory(), openingsCount: content.openingsCount) }
            content.openingsCount += 1
            content.owner = content.openingsCount
            return content.owner
        }
        guard let owner else {
            throw JournalError(
                .locked, operation: "open a journal in memory", reason: "another reducer has it",
                remedy: "kill or stop that one first")
        }
        return MemoryJournal(store: self, owner: owner)
    }

    /// The journal of these records, only to read.
    package var reader: MemoryJournal { MemoryJournal(store: self, owner: 0) }
}

/// A journal that lasts as long as its process.
///
/// It keeps the promises G1, G2, G5, G6 and G9 to G13 within one reducer process. Across its restart it keeps none, unless the
/// records are kept and opened again.
package struct MemoryJournal: Journal, Sendable {
    fileprivate let store: MemoryRecords
    /// The number of the opening, or 0 if it only reads.
    fileprivate let owner: Int

    fileprivate init(store: MemoryRecords, owner: Int) {
        self.store = store
        self.owner = owner
    }

    /// Creates an empty journal that counts its records, and keeps none.
    /// - Parameter history: a random history, a new one for each journal.
    package init(history: History) {
        let content = MemoryRecords.Content(history: history, owner: 1)
        self.init(store: MemoryRecords(content, keeps: false) { history }, owner: content.owner)
    }

    /// The history of the run.
    package var history: History { store.content.withLock { $0.history } }

    /// The number of records appended so far, or 0 before the first.
    package var position: UInt64 { store.content.withLock { $0.position } }

    /// Appends the records, and returns the receipt at once.
    /// - Parameters:
    ///   - records: the records of a turn, in order; may be empty.
    ///   - position: the position of the last of them.
    /// - Throws: `JournalError` of kind `.misuse` if the records end at another position, or the journal is closed.
    package mutating func append(
        _ records: RecordLog, through position: UInt64
    ) throws(JournalError) -> JournalReceipt {
        let fits = store.content.withLock { content in
            guard content.owner == owner, owner > 0, content.position + UInt64(records.count) == position else {
                return false
            }
            content.position = position
            if store.keeps { content.records += records }
            return true
        }
        guard fits else {
            throw JournalError(
                .misuse, operation: "append records through \(position)", reason: "it is closed, or ends elsewhere",
                remedy: "append the records of every turn, in order")
        }
        return JournalReceipt(through: position)
    }

    /// Does nothing, because there is no file.
    package mutating func flush() {}

    /// A page of the kept records after a position, in order. Empty at the end.
    /// - Parameters:
    ///   - position: the last position that is not wanted; 0 begins with the first record.
    ///   - bytesMax: the size of the page in bytes. A record counts as 256 bytes, which is a large one. At least one record is
    ///     returned if there is one.
    /// - Throws: `JournalError` of kind `.trimmed` if records after the position are not kept.
    package func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        let page: [Record]? = store.content.withLock { content in
            if !store.keeps { return position < content.position ? nil : [] }
            return Array(content.records.dropFirst(Int(clamping: position)).prefix(max(1, bytesMax / 256)))
        }
        guard let page else {
            throw JournalError(
                .trimmed, operation: "read the records after \(position)", reason: "a journal in memory keeps none",
                remedy: "keep the loop's history in a file: --journal FILE")
        }
        return page
    }

    /// The seq of the oldest event that is kept, or nil if none is.
    package func firstSeq() -> Seq? {
        store.content.withLock { content in
            for case .event(let event) in content.records { return event.seq }
            return nil
        }
    }

    /// The position before the oldest record that is kept, whatever the seq.
    package func position(before seq: Seq) -> UInt64 { store.keeps ? 0 : position }

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

    /// Removes nothing.
    /// - Returns: the seq of the oldest event that is kept, or 0 if none is.
    package mutating func trim(before seq: Seq) -> Seq { firstSeq() ?? .initial }

    /// The next opening of the records begins a new run.
    package mutating func markEnded() { store.content.withLock { $0.hasEnded = true } }

    /// Another reducer may open the records.
    package mutating func close() {
        store.content.withLock { content in
            if owner > 0, content.owner == owner { content.owner = 0 }
        }
    }
}
