/// A journal that a reader can follow while another process writes it. It returns what was appended after a row, and says whether
/// that row still exists. Rows disappear when a database's failover takes them back, and when a journal is cut or trimmed.
package protocol FollowedJournal: Journal {
    /// The end of the newest row that is known to be in the journal. It can be read after the journal has failed.
    var newestEnd: RowEnd { get }

    /// The end of the row that ends with a record, as the journal has it now, or nil if no row ends there.
    /// - Throws: `JournalError` if the journal cannot be read.
    func end(ofRowAt position: UInt64) throws(JournalError) -> RowEnd?

    /// Reads the records after those that a reader has.
    /// - Parameters:
    ///   - position: the position of the last record that the reader has.
    ///   - checksum: the checksum of the row that ends there. With nil the reader is in the middle of a row, and nothing is
    ///     compared.
    ///   - bytesMax: about how many bytes of records to read; whole rows are read.
    /// - Returns: the next records, or nil if the journal no longer has that row, or no longer belongs to the loop.
    /// - Throws: `JournalError` of kind `.corrupt` if the next record cannot be trusted.
    func page(after position: UInt64, checksum: UInt32?, bytesMax: Int) throws(JournalError) -> FollowedPage?

    /// Whether the journal may be read from another server than the one that the leader writes to.
    var mayLag: Bool { get }

    /// Leaves a source that is behind the leader. If there are several sources, the next journal that is opened reads from
    /// another one.
    func leaveSource()
}

extension FollowedJournal {
    /// A journal with one source cannot lag.
    package var mayLag: Bool { false }

    /// Does nothing, because there is one source.
    package func leaveSource() {}
}

/// The end of a row of a journal. The checksum covers everything before it. Two journals with equal ends therefore have equal
/// records up to there.
package struct RowEnd: Equatable, Sendable {
    /// The position of the row's last record, or 0 before the first row.
    package let position: UInt64
    /// The row's checksum.
    package let checksum: UInt32

    /// Creates an end from its parts.
    package init(position: UInt64, checksum: UInt32) {
        self.position = position
        self.checksum = checksum
    }
}

/// The records that a reader of a followed journal gets at once.
package struct FollowedPage: Sendable {
    /// The records in order; empty at the end of the journal.
    package let records: [Record]
    /// The end of the last row that was read, or nil if no row was. The reader's position is then unchanged.
    package let end: RowEnd?
    /// The position of the newest record in the journal.
    package let newest: UInt64

    /// Creates a page from its parts.
    package init(records: [Record], end: RowEnd?, newest: UInt64) {
        self.records = records
        self.end = end
        self.newest = newest
    }
}
