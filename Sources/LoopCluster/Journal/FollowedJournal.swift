/// A journal that a reader can follow while another process writes it: it tells what was appended behind a row, and whether that row
/// is there at all. Rows go away when a failover of a database takes them back, when a journal is cut, and when it is trimmed.
public protocol FollowedJournal: Journal {
    /// The end of the newest row that is known to be in the journal. It can be read after the journal has failed.
    var newestEnd: RowEnd { get }

    /// The end of the row that ends with a record, as it is in the journal now.
    /// - Returns: nil: no row ends with that record.
    /// - Throws: where the journal cannot be read.
    func end(ofRowAt position: UInt64) throws(JournalError) -> RowEnd?

    /// The records behind those that a reader has.
    /// - Parameters:
    ///   - position: that of the last record that the reader has.
    ///   - checksum: of the row that ends there; nil: the reader stands in the middle of a row, and nothing is compared.
    ///   - bytesMax: about how many bytes of records; whole rows are read.
    /// - Returns: nil: the journal has not the row on which the reader stands, or is not the loop's any more.
    /// - Throws: of kind `.corrupt` where the next record cannot be trusted.
    func page(after position: UInt64, checksum: UInt32?, bytesMax: Int) throws(JournalError) -> FollowedPage?

    /// Whether the journal may be read from another server than the one that the leader writes to.
    var mayLag: Bool { get }

    /// The source is behind the leader. If there are several sources, the next journal that is opened reads from another one.
    func leaveSource()
}

extension FollowedJournal {
    /// A journal with one source cannot lag.
    public var mayLag: Bool { false }

    /// Does nothing, because there is one source.
    public func leaveSource() {}
}

/// The end of a row of a journal. The checksum covers everything before, so two journals that have the same end have the same records up
/// to there.
public struct RowEnd: Equatable, Sendable {
    /// The position of the row's last record; 0: before the first row.
    public let position: UInt64
    /// The row's checksum.
    public let checksum: UInt32

    /// Creates an end from its parts.
    public init(position: UInt64, checksum: UInt32) {
        self.position = position
        self.checksum = checksum
    }
}

/// What a reader that follows a journal is given.
public struct FollowedPage: Sendable {
    /// In order; empty at the end of the journal.
    public let records: [Record]
    /// Where the reader stands after them; nil: it has got none, and stands where it stood.
    public let end: RowEnd?
    /// The position of the newest record.
    public let newest: UInt64

    /// Creates a page from its parts.
    public init(records: [Record], end: RowEnd?, newest: UInt64) {
        self.records = records
        self.end = end
        self.newest = newest
    }
}
