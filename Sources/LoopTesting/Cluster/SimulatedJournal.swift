package import LoopCluster
import LoopCore

/// Records that outlive a crash of the reducer, up to the last one that was synced.
package struct SimulatedJournal: Journal, Sendable {
    package private(set) var records: [Record] = []
    /// How many records there were when the present process opened the journal.
    private var opened = 0

    /// A process opens the journal: positions count from here.
    mutating func open() { opened = records.count }

    package mutating func append(_ more: [Record], through position: UInt64) throws(JournalError) -> JournalReceipt {
        guard UInt64(records.count - opened + more.count) == position else {
            throw JournalError(
                operation: "append records through \(position)",
                reason: "\(records.count - opened) + \(more.count) records do not reach there",
                remedy: "append every turn's records, in order")
        }
        records += more
        return JournalReceipt(through: position)
    }

    /// The process died in the middle of an append: some of the records stand.
    mutating func tear(_ survivors: some Sequence<Record>) { records += survivors }
}
