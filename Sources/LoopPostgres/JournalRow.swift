internal import LoopCluster
internal import LoopJournal
internal import LoopWire

/// The name under which a loop's journal is kept. There is one journal of each name.
public enum KeptAs: String, CaseIterable, Sendable {
    /// The journal that a reducer opens.
    case current
    /// The journal of the run before, whose outcome was reported.
    case previous
    /// The journal that a cut has replaced.
    case damaged
}

/// One reducer's ownership of a journal, from a takeover to the next. Each append names it.
struct Term: Equatable, Sendable {
    /// The number of the term, which grows by one with each takeover.
    var number: Int64
    /// A random number, because two terms have one number if a failover of the database loses a takeover.
    var nonce: Int64
}

/// The content of a row of `loop_journal`.
struct JournalRow: Equatable, Sendable {
    let id: Int64
    let loop: String
    let history: Int64
    let hasEnded: Bool
    let movedTo: String?
    let term: Term
    /// The random number of the holder's `JournalMemory`.
    let holder: Int64
    /// The process that is the holder, for people.
    let holderName: String
    /// The address at which peers find the holder, or empty if it names none.
    let address: String
    let backend: Int64
    let leaseMilliseconds: Int64
    let renewals: Int64
    let isReleased: Bool
    /// The end of the newest batch.
    let tail: ChainLink
    /// The end of the trimmed rows.
    let base: ChainLink
    /// The end of the journal at the last orderly close. The journal cannot end before it.
    let known: ChainLink

    /// SQL for the number of the newest renewal of a row of `loop_journal`.
    static let renewals = "coalesce((SELECT max(number) FROM loop_renewal WHERE journal_id = loop_journal.id), 0)"
    /// SQL for the newest batch of a row of `loop_journal`. The index finds it first.
    static let newest = """
        (SELECT last_position, last_seq, checksum FROM loop_batch WHERE journal_id = loop_journal.id
            ORDER BY first_position DESC LIMIT 1)
        """

    /// Reads a row of these columns.
    /// - Throws: `JournalError` of kind `.corrupt` if a number is impossible.
    init(_ result: borrowing QueryResult, at url: ConnectionString) throws(JournalError) {
        func number(_ column: Int) -> Int64 { result.integer(0, column) ?? -1 }
        id = number(0)
        loop = result.text(0, 1) ?? ""
        history = number(2)
        hasEnded = number(3) == 1
        movedTo = result.text(0, 4)
        term = Term(number: number(5), nonce: number(6))
        holder = number(7)
        holderName = result.text(0, 8) ?? ""
        address = result.text(0, 9) ?? ""
        backend = number(10)
        leaseMilliseconds = number(11)
        renewals = number(12)
        isReleased = number(13) == 1
        guard let tail = ChainLink(trimmedTo: number(14), seq: number(15), checksum: number(16)),
            let base = ChainLink(trimmedTo: number(17), seq: number(18), checksum: number(19)),
            let known = ChainLink(trimmedTo: number(20), seq: number(21), checksum: number(22)),
            base.position <= tail.position
        else {
            throw JournalError(
                .corrupt, operation: "be opened",
                reason: "the row of the loop \(loop) in \(url) has numbers that cannot be",
                remedy: "put back a copy of the database")
        }
        self.tail = tail
        self.base = base
        self.known = known
    }
}

extension PostgresSession {
    /// The row of a loop's journal of that name, or nil if there is none.
    mutating func row(of loop: String, _ keptAs: KeptAs) throws(JournalError) -> JournalRow? {
        let found = try run(
            PreparedStatement(
                "journal",
                """
                SELECT id, loop, history, ended, moved_to, term, nonce, holder, holder_name, address, backend, lease_ms,
                        \(JournalRow.renewals), released, coalesce(newest.last_position, trimmed_position),
                        coalesce(newest.last_seq, trimmed_seq), coalesce(newest.checksum, trimmed_checksum),
                        trimmed_position, trimmed_seq, trimmed_checksum, position, seq, loop_journal.checksum
                    FROM loop_journal LEFT JOIN LATERAL \(JournalRow.newest) AS newest ON true
                    WHERE loop_id = $1 AND kept_as = $2
                """),
            [.integer(Int64(bitPattern: LoopID(name: loop).value)), .text(keptAs.rawValue)], "be opened")
        guard found.count > 0 else { return nil }
        let row = try JournalRow(found, at: url)
        guard row.loop == loop else {
            throw JournalError(
                .foreign, operation: "be opened",
                reason: "\(url) has a journal of the loop \(row.loop), whose number is that of \(loop), too",
                remedy: "give one of the loops another name, or another database")
        }
        return row
    }

    /// Creates an empty journal without a holder, if the loop has none of that name.
    /// - Returns: its number, or nil if there is one.
    @discardableResult mutating func makeJournal(
        of loop: String, keptAs: String, history: Int64, _ operation: String
    ) throws(JournalError) -> Int64? {
        try run(
            """
            INSERT INTO loop_journal (loop_id, loop, kept_as, history, term, nonce, holder, holder_name, address, backend,
                    lease_ms, released, position, seq, checksum, trimmed_position, trimmed_seq, trimmed_checksum)
                VALUES ($1, $2, $3, $4, 0, 0, 0, '', '', 0, 0, true, 0, 0, 0, 0, 0, 0)
                ON CONFLICT DO NOTHING RETURNING id
            """,
            [
                .integer(Int64(bitPattern: LoopID(name: loop).value)), .text(loop), .text(keptAs), .integer(history),
            ], operation
        ).integer(0, 0)
    }
}
