internal import LoopCluster
internal import LoopJournal
internal import LoopWire

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
        let made = try Self.make(loop, history, &session)
        self.init(session, made)
    }

    private init(_ session: consuming PostgresSession, _ journalID: Int64) {
        self.session = session
        self.journalID = journalID
    }

    /// Creates its row, and first removes one that an earlier process has left.
    private static func make(
        _ loop: String, _ history: Int64, _ session: inout PostgresSession
    ) throws(JournalError) -> Int64 {
        // The transaction that names the copy is committed after all of this, and makes it durable too.
        try session.setSynchronousCommit(false)
        do throws(PostgresError) {
            try session.connection.removeJournal(of: loop, keptAs: Self.keptAs, Self.operation)
            let made = try session.connection.run(
                """
                INSERT INTO loop_journal (loop_id, loop, kept_as, history, term, nonce, holder, holder_name, address, backend,
                        lease_ms, released, position, seq, checksum, trimmed_position, trimmed_seq, trimmed_checksum)
                    VALUES ($1, $2, $3, $4, 0, 0, 0, '', '', 0, 0, true, 0, 0, 0, 0, 0, 0) RETURNING id
                """,
                [
                    .integer(Int64(bitPattern: LoopID(name: loop).value)), .text(loop), .text(Self.keptAs),
                    .integer(history),
                ], Self.operation, within: PostgresSession.limit)
            return made.integer(0, 0) ?? 0
        } catch {
            throw .postgres(Self.operation, error, at: session.url)
        }
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
            [
                .integer(journalID), .integer(Int64(clamping: row.firstPosition)),
                .integer(Int64(clamping: row.lastPosition)), .integer(Int64(clamping: row.firstSeq)),
                .integer(Int64(clamping: row.lastSeq)), .integer(Int64(row.checksum)), .bytes(bytes),
            ], Self.operation)
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
            .integer(journalID), .integer(other), .integer(Int64(clamping: base.position)),
            .integer(Int64(clamping: end.position)),
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
            [
                .integer(journalID), .integer(Int64(clamping: tail.position)), .integer(Int64(clamping: tail.seq)),
                .integer(Int64(tail.checksum)), .integer(Int64(clamping: base.position)),
                .integer(Int64(clamping: base.seq)), .integer(Int64(base.checksum)), .integer(hasEnded ? 1 : 0),
            ], Self.operation)
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
