public import LoopCluster
public import LoopCore
internal import LoopWire

extension SQLiteJournal {
    /// A page of the records after a position, in order. Empty at the end. Every row that is read is checked.
    /// - Parameters:
    ///   - position: the last position that is not wanted. 0 begins with the first record.
    ///   - bytesMax: about how many bytes of records to read. At least one row is read.
    /// - Throws: `JournalError` of kind `.corrupt` if the next record cannot be trusted: the error names the
    ///   position, the seq and the remedy. Of kind `.trimmed` if the record was trimmed, `.misuse` if the journal was closed.
    public func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        let file = try readable("read the records after \(position)")
        try refresh()
        return try reading(file) { () throws(JournalError) in
            try reader.records(after: position, bytesMax: bytesMax, in: file)
        }
    }

    func damaged(after link: ChainLink, _ reason: String) -> JournalError { reader.damaged(after: link, reason) }

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

    /// The seq of the newest event, even if its record was trimmed, or 0 if there was none.
    /// - Throws: `JournalError` if reading fails, if waiting records cannot be written, or if the journal was closed.
    public func newestSeq() throws(JournalError) -> Seq {
        try refresh()
        return Seq(tail.seq)
    }

    /// The end of the row before the one with the event `seq`. The records after it begin with that event, or with one not
    /// far before it. A bisection finds it, because rows are in the order of both numbers.
    /// - Throws: `JournalError` of kind `.corrupt` if a row is missing. Another kind if reading fails or the journal was closed.
    public func position(before seq: Seq) throws(JournalError) -> UInt64 {
        let file = try readable("be read")
        try refresh()
        return try reading(file) { () throws(JournalError) in try reader.position(before: seq, in: file) }
    }

    /// The end of the row whose last record has this position, or nil if no row ends there.
    /// - Throws: `JournalError` if reading fails, if waiting records cannot be written, or if the journal was closed.
    public func end(ofRowAt position: UInt64) throws(JournalError) -> RowEnd? {
        let file = try readable("be read")
        try refresh()
        return try reader.end(ofRowAt: position, in: file)
    }

    /// The records behind those that a reader has. Returns nil if the row at which the reader is does not exist, or if the name
    /// leads to another file.
    /// - Throws: `JournalError` as `records(after:bytesMax:)`.
    public func page(
        after position: UInt64, checksum: UInt32?, bytesMax: Int
    ) throws(JournalError) -> FollowedPage? {
        let file = try readable("read the records after \(position)")
        guard try refresh() else { return nil }
        return try reading(file) { () throws(JournalError) in
            try reader.page(after: position, checksum: checksum, bytesMax: bytesMax, in: file)
        }
    }

    /// Finds what the writing process has appended since the last call, or writes what waits.
    /// - Returns: false if the name leads to another file.
    @discardableResult package func refresh() throws(JournalError) -> Bool {
        let file = try readable("be read")
        guard isReadOnly else {
            try settle()
            return true
        }
        base = try file.base()
        tail = try file.tail(after: base)
        if try file.meta("ended") == 1 { hasEnded = true }
        return try !file.hasMoved()
    }
}
