internal import LoopCluster
internal import LoopJournal

/// A journal that is being copied into a database. No reducer opens it before it is complete and gets its final name in one
/// transaction. If the process ends in between, the next one removes the incomplete copy.
struct PostgresArrival: ~Copyable {
    var session: PostgresSession
    let journalID: Int64
    private static let operation = "be copied"

    /// The name under which the copy is kept until it is complete.
    static let keptAs = "arriving"

    init(_ url: ConnectionString, loop: String, history: Int64) throws(JournalError) {
        var session = try PostgresSession.open(url, for: .writing, name: "loop/copy")
        // The transaction that names the copy is committed after all of this, and makes it durable too.
        try session.setSynchronousCommit(false)
        do throws(PostgresError) {
            // An earlier process may have left one.
            try session.connection.removeJournal(of: loop, keptAs: Self.keptAs, Self.operation)
        } catch {
            throw .postgres(Self.operation, error, at: session.url)
        }
        let made = try session.makeJournal(of: loop, keptAs: Self.keptAs, history: history, Self.operation)
        guard let made else {
            let error = PostgresError(.refused, Self.operation, text: "another process copies a journal of this loop")
            throw .postgres(Self.operation, error, at: session.url)
        }
        journalID = made
        self.session = session
    }

    private static let insertion = PreparedStatement(
        "insert",
        """
        INSERT INTO loop_batch (journal_id, first_position, last_position, first_seq, last_seq, checksum, term, records)
            VALUES ($1, $2, $3, $4, $5, $6, 0, $7)
        """)

    /// Copies a row unchanged.
    mutating func insert(_ row: BatchRow, _ records: Span<UInt8>) throws(JournalError) {
        var bytes: [UInt8] = []
        bytes.append(copying: records)
        _ = try session.run(
            Self.insertion,
            [.integer(journalID)] + row.parameters + [.bytes(bytes)], Self.operation)
    }

    /// Copies a snapshot.
    mutating func insert(_ entry: SnapshotEntry, _ bytes: [UInt8]) throws(JournalError) {
        let written = try session.write(entry, bytes, of: journalID, pause: 0)
        do throws(PostgresError) {
            try session.connection.list(written, of: journalID, term: 0, Self.operation)
        } catch {
            throw .postgres(Self.operation, error, at: session.url)
        }
    }

    /// Copies the snapshots of another journal of this database, as far as this one covers them.
    mutating func insertSnapshots(of other: Int64, from base: ChainLink, through end: ChainLink) throws(JournalError) {
        let parameters: [Parameter] = [
            .integer(journalID), .integer(other), .number(base.position), .number(end.position),
        ]
        _ = try session.run(
            """
            INSERT INTO loop_snapshot SELECT $1, position, seq, fingerprint, byte_count, checksum, term FROM loop_snapshot
                WHERE journal_id = $2 AND position BETWEEN $3 AND $4
            """, parameters, Self.operation)
        _ = try session.run(
            """
            INSERT INTO loop_snapshot_piece SELECT $1, position, checksum, piece, content FROM loop_snapshot_piece
                WHERE journal_id = $2 AND position BETWEEN $3 AND $4
            """, parameters, Self.operation, within: PostgresSession.longLimit)
    }

    /// Notes the beginning and the end of the journal, which is complete now.
    mutating func finish(_ base: ChainLink, _ tail: ChainLink, hasEnded: Bool = false) throws(JournalError) {
        _ = try session.run(
            """
            UPDATE loop_journal SET position = $2, seq = $3, checksum = $4, trimmed_position = $5, trimmed_seq = $6,
                trimmed_checksum = $7, ended = ($8 = 1) WHERE id = $1
            """,
            [.integer(journalID)] + tail.parameters + base.parameters + [.integer(hasEnded ? 1 : 0)], Self.operation)
    }
}

extension PostgresConnection {
    /// Gives a copied journal the name of the current one.
    mutating func activate(_ arrival: Int64, term: Int64, _ operation: String) throws(PostgresError) {
        _ = try run(
            "UPDATE loop_journal SET kept_as = 'current', term = $2 WHERE id = $1",
            [.integer(arrival), .integer(term)], operation, within: PostgresSession.limit)
    }
}
