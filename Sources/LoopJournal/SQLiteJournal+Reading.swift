public import LoopCluster
public import LoopCore
internal import LoopWire

extension SQLiteJournal {
    /// The seq of the oldest event in the journal, or nil if it has none.
    /// - Throws: `JournalError` if reading fails, if waiting records cannot be written, or if the journal was
    ///   closed.
    public func firstSeq() throws(JournalError) -> Seq? {
        let file = try readable("be read")
        if !isReadOnly { try settle() }
        return try file.number(
            "SELECT first_seq FROM batches WHERE last_seq >= first_seq ORDER BY first_position LIMIT 1"
        ).map { Seq(UInt64(bitPattern: $0)) }
    }

    /// Finds what the writing process has appended since the last call, or writes what waits.
    /// - Returns: false if the name leads to another file.
    @discardableResult package func refresh() throws(JournalError) -> Bool {
        let file = try readable("be read")
        guard isReadOnly else {
            try settle()
            return true
        }
        reader.base = try file.base()
        reader.tail = try file.tail(after: reader.base)
        if try file.meta("ended") == 1 { hasEnded = true }
        return try !file.hasMoved()
    }
}
