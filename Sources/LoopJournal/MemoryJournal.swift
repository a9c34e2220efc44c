public import LoopCluster

/// A journal that lasts as long as its process: every start begins a new history.
///
/// It keeps the newest records up to a limit for those who want to look; nothing is read back from it. What it
/// promises: G1, G2, G5, G6 and G9 to G13 within one reducer process; nothing across its restart.
public struct MemoryJournal: Journal, Sendable {
    /// The newest records, at most so many.
    public private(set) var records: [Record] = []
    private let keepsMax: Int

    /// - Parameter keepsMax: how many records are kept; 0 keeps none.
    public init(keepsMax: Int = 0) { self.keepsMax = keepsMax }

    public mutating func append(
        _ records: [Record], through position: UInt64
    ) throws(JournalError) -> JournalReceipt {
        if keepsMax > 0 {
            self.records += records
            if self.records.count > 2 * keepsMax { self.records.removeFirst(self.records.count - keepsMax) }
        }
        return JournalReceipt(through: position)
    }
}
