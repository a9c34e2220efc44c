package import LoopCluster
package import LoopCore
package import LoopWire

/// Records that outlive a crash of the reducer, up to the last one that was synced.
package struct SimulatedJournal: Journal, Sendable {
    package let history: History
    package private(set) var records: [Record] = []

    package init(history: History) { self.history = history }

    package var position: UInt64 { UInt64(records.count) }

    package mutating func append(_ more: [Record], through position: UInt64) throws(JournalError) -> JournalReceipt {
        guard UInt64(records.count + more.count) == position else {
            throw JournalError(
                .misuse, operation: "append records through \(position)",
                reason: "\(records.count) + \(more.count) records do not reach there",
                remedy: "append every turn's records, in order")
        }
        records += more
        return JournalReceipt(through: position)
    }

    /// The process died in the middle of an append: some of the records stand.
    mutating func tear(_ survivors: some Sequence<Record>) { records += survivors }

    package mutating func flush() {}

    package func records(after position: UInt64, bytesMax: Int) -> [Record] {
        Array(records.dropFirst(Int(position)).prefix(max(1, bytesMax / 64)))
    }

    package func firstSeq() -> Seq? {
        for case .event(let event) in records { return event.seq }
        return nil
    }

    package func position(before seq: Seq) -> UInt64 { 0 }

    package func snapshots() -> [SnapshotEntry] { [] }

    package func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8] {
        throw JournalError(
            .misuse, operation: "read a snapshot", reason: "there is none", remedy: "replay the records")
    }

    package var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? { nil }

    package mutating func add(_ snapshot: SnapshotEntry) {}

    package mutating func trim(before seq: Seq) -> Seq { firstSeq() ?? .initial }

    package mutating func markEnded() {}

    package mutating func close() {}
}
