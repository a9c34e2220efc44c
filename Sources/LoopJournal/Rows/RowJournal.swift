package import LoopCluster
package import LoopCore

/// A journal whose records are in rows, whether in a file or in a database.
package protocol RowJournal: AnyObject, FollowedJournal {
    /// Reads the rows, and knows their first and last positions.
    var reader: RowReader { get set }

    /// The rows.
    /// - Parameter operation: what they are read for, for an error.
    /// - Throws: `JournalError` of kind `.misuse` if the journal was closed.
    func rows(to operation: String) throws(JournalError) -> any BatchRows

    var isReadOnly: Bool { get }

    /// The listed snapshots, the newest first, whatever the journal's records are.
    func listed() throws(JournalError) -> [SnapshotEntry]

    /// Finds what the writing process has appended and trimmed since the last call, if this one only reads. Otherwise writes what
    /// waits.
    /// - Returns: whether the path or address still leads to this journal.
    @discardableResult func refresh() throws(JournalError) -> Bool
}

extension RowJournal {
    /// Runs `body` after `refresh`, and again if a trim has overtaken it. An error about damaged rows gets the remedy that keeps
    /// what a start recovers, unless a start would refuse the journal.
    private func reading<Result>(
        _ rows: any BatchRows, _ body: () throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        let base = reader.base
        do throws(JournalError) {
            return try body()
        } catch {
            guard error.kind == .corrupt else { throw error }
            try refresh()
            if reader.base != base { return try reading(rows, body) }
            guard startRefusal == nil, let snapshots = try? snapshots() else { throw error }
            throw reader.advised(
                error, snapshots: snapshots, isIntact: { (try? content(of: $0)) != nil }, in: rows)
        }
    }

    /// The end of the newest row that has a receipt.
    package var newestEnd: RowEnd { RowEnd(reader.tail) }

    /// A page of the records after a position, in order. Empty at the end. Every row that is read is checked.
    /// - Parameters:
    ///   - position: the last position that is not wanted. 0 begins with the first record.
    ///   - bytesMax: about how many bytes of records to read. At least one row is read.
    /// - Throws: `JournalError` of kind `.corrupt` if the next record cannot be trusted: the error names the
    ///   position, the seq and the remedy. Of kind `.trimmed` if the record was trimmed, `.misuse` if the journal was closed.
    package func records(after position: UInt64, bytesMax: Int) throws(JournalError) -> [Record] {
        let rows = try rows(to: "read the records after \(position)")
        try refresh()
        return try reading(rows) { () throws(JournalError) in
            try reader.records(after: position, bytesMax: bytesMax, in: rows)
        }
    }

    /// The seq of the newest event, even if its record was trimmed, or 0 if there was none.
    /// - Throws: `JournalError` if reading fails, if waiting records cannot be written, or if the journal was closed.
    package func newestSeq() throws(JournalError) -> Seq {
        try refresh()
        return Seq(reader.tail.seq)
    }

    /// The end of the row before the one with the event `seq`. The records after it begin with that event, or with one not
    /// far before it. A bisection finds it, because rows are in the order of both numbers.
    /// - Throws: `JournalError` of kind `.corrupt` if a row is missing. Another kind if reading fails or the journal was closed.
    package func position(before seq: Seq) throws(JournalError) -> UInt64 {
        let rows = try rows(to: "be read")
        try refresh()
        return try reading(rows) { () throws(JournalError) in try reader.position(before: seq, in: rows) }
    }

    /// The end of the row whose last record has this position, or nil if no row ends there.
    /// - Throws: `JournalError` if reading fails, if waiting records cannot be written, or if the journal was closed.
    package func end(ofRowAt position: UInt64) throws(JournalError) -> RowEnd? {
        let rows = try rows(to: "be read")
        try refresh()
        return try reader.end(ofRowAt: position, in: rows)
    }

    /// The records behind those that a reader has. Returns nil if the row at which the reader is does not exist, or if the path or
    /// address leads to another journal.
    /// - Throws: `JournalError` as `records(after:bytesMax:)`.
    package func page(
        after position: UInt64, checksum: UInt32?, bytesMax: Int
    ) throws(JournalError) -> FollowedPage? {
        let rows = try rows(to: "read the records after \(position)")
        guard try refresh() else { return nil }
        return try reading(rows) { () throws(JournalError) in
            try reader.page(after: position, checksum: checksum, bytesMax: bytesMax, in: rows)
        }
    }

    /// The listed snapshots that the journal's records continue, the newest first. There are at most 3, and the one at the cut of a
    /// trimmed journal. Their bytes are not checked.
    /// - Throws: `JournalError` if reading fails or the journal was closed.
    package func snapshots() throws(JournalError) -> [SnapshotEntry] {
        _ = try rows(to: "list the snapshots")
        if isReadOnly { try refresh() }
        // The records after a snapshot must still be there, and those that it covers were appended before it.
        return try listed().filter { $0.position >= reader.base.position && $0.position <= position }
    }

    /// Refuses a snapshot that the journal's records do not continue.
    package func check(_ snapshot: SnapshotEntry, _ operation: String) throws(JournalError) {
        guard snapshot.position <= position, snapshot.position >= reader.base.position else {
            throw .misuse(operation, "it covers \(snapshot.position) records of \(reader.base.position)...\(position)")
        }
    }

    /// The listed snapshots that go when one is added. 3 are kept: one to start from, and two to fall back to. Of a trimmed journal
    /// the oldest stays too, because the remaining records continue it.
    /// - Returns: the older ones that go, and those at the position of the new one, which takes their place.
    package func obsolete(
        by snapshot: SnapshotEntry
    ) throws(JournalError) -> (older: [SnapshotEntry], replaced: [SnapshotEntry]) {
        let listed = try listed()
        let others = listed.filter { $0.position != snapshot.position }
        return (
            Array(others.dropFirst(2).dropLast(reader.base == .start ? 0 : 1)),
            listed.filter { $0.position == snapshot.position && $0.checksum != snapshot.checksum }
        )
    }

    /// Passes every row to `body`, in order, and checks each.
    package func forEachRow(_ body: (BatchRow, Span<UInt8>) throws(JournalError) -> Void) throws(JournalError) {
        let rows = try rows(to: "be read")
        try reading(rows) { () throws(JournalError) in try reader.forEachRow(in: rows, body) }
    }
}
