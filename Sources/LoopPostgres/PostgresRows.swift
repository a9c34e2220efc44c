internal import LoopCluster
internal import LoopJournal

extension ChainLink {
    /// The position, the seq and the checksum, in this order.
    var parameters: [Parameter] { [.number(position), .number(seq), .number(checksum)] }
}

extension BatchRow {
    /// The numbers of a row, without its length, in the order of its columns.
    var parameters: [Parameter] {
        [.number(firstPosition), .number(lastPosition), .number(firstSeq), .number(lastSeq), .number(checksum)]
    }
}

/// The rows of one journal in a database.
struct PostgresRows: BatchRows {
    let held: HeldConnection

    private static let columns =
        "first_position, last_position, first_seq, last_seq, octet_length(records)::bigint, checksum"

    private static let newest = PreparedStatement(
        "rows",
        """
        SELECT \(columns) FROM loop_batch WHERE journal_id = $1 AND first_position <= $2
            ORDER BY first_position DESC LIMIT $3
        """)

    /// Reads the rows that begin within a number of bytes, at least one and at most 256. One statement never reads all rows,
    /// because a long one would keep the database from removing dead rows behind the appends.
    private static let page = PreparedStatement(
        "page",
        """
        SELECT first_position, last_position, first_seq, last_seq, length, checksum, records FROM (
            SELECT *, octet_length(records)::bigint AS length,
                    sum(octet_length(records)) OVER (ORDER BY first_position) - octet_length(records) AS before
                FROM loop_batch WHERE journal_id = $1 AND first_position >= $2 ORDER BY first_position LIMIT 256) AS following
            WHERE before < $3 ORDER BY first_position
        """)

    func rows(through position: UInt64, max: Int) throws(JournalError) -> [BatchRow?] {
        let parameters: [Parameter] = [.integer(held.journalID), .number(position), .number(max)]
        let found = try held.use("be read") { session throws(JournalError) in
            try session.run(Self.newest, parameters, "be read")
        }
        return (0..<found.count).map { Self.row(found, $0) }
    }

    func forEachRow(
        from position: UInt64, bytesMax: Int, _ body: (BatchRow?, Span<UInt8>) throws(JournalError) -> Bool
    ) throws(JournalError) {
        var position = Int64(clamping: position)
        while true {
            let parameters: [Parameter] = [
                .integer(held.journalID), .integer(position), .number(max(1, min(bytesMax, 4 << 20))),
            ]
            let found = try held.use("be read") { session throws(JournalError) in
                try session.run(Self.page, parameters, "be read")
            }
            if found.count == 0 { return }
            for index in 0..<found.count {
                let row = Self.row(found, index)
                let goesOn = try found.withBytes(index, 6) { bytes throws(JournalError) in try body(row, bytes) }
                guard goesOn ?? false else { return }
            }
            // The next page begins behind the first position of the last row, because its other numbers may be wrong.
            guard let last = found.integer(found.count - 1, 0), last < Int64.max else { return }
            position = last + 1
        }
    }

    private static func row(_ found: borrowing QueryResult, _ index: Int) -> BatchRow? {
        BatchRow(
            first: found.integer(index, 0) ?? -1, last: found.integer(index, 1) ?? -1,
            firstSeq: found.integer(index, 2) ?? -1, lastSeq: found.integer(index, 3) ?? -1,
            length: found.integer(index, 4) ?? -1, checksum: found.integer(index, 5) ?? -1)
    }
}
