package import LoopCluster
package import LoopCore
package import LoopJournal
package import LoopWire

/// A journal in a PostgreSQL database. Each append is one row, checksummed and tied to the row before as in a file. Snapshots are
/// stored in pieces. `docs/spec/3-POSTGRES.md` specifies the tables and the rules.
///
///     append ──▶ one statement: is the term mine, and my row the next? ──▶ commit ──▶ receipt
///                                                    └── anything else ──▶ the term is over
///
/// Appends are sent one behind the other without waiting. Each row is tied to the one before, so none can follow a lost one.
///
/// Nothing is repeated after an error. The caller opens the journal again, which begins a new term, and continues from what is
/// there. The journal belongs to one thread. A second thread renews its lease.
package final class PostgresJournal: RowJournal {
    /// The name of the loop that it belongs to.
    package let loop: String
    /// The first history of the journal, which was made with it. A later one is in a record.
    package let history: History
    /// One line for each finding of the opening that a person should know of.
    package let openReport: [String]
    /// Whether the loop has ended and its outcome was reported.
    package internal(set) var hasEnded: Bool

    let held: HeldConnection
    let rows: PostgresRows
    let durability: Durability
    let keptAs: KeptAs
    /// What the process remembers, or nil if the journal only reads.
    private let memory: JournalMemory?
    /// Reads the rows. Its tail is the end of the newest row that has a receipt.
    package var reader: RowReader
    /// The end of the newest row that was sent.
    private var sent: ChainLink
    private var isClosed = false

    init(
        _ held: HeldConnection, _ row: JournalRow, reader: RowReader, durability: Durability, keptAs: KeptAs,
        memory: JournalMemory?, report: [String]
    ) {
        self.held = held
        self.reader = reader
        sent = reader.tail
        self.durability = durability
        self.keptAs = keptAs
        self.memory = memory
        rows = PostgresRows(held: held)
        loop = row.loop
        history = History(UInt64(bitPattern: row.history))
        hasEnded = row.hasEnded
        openReport = report
    }

    package var isReadOnly: Bool { memory == nil }
    var url: ConnectionString { held.url }

    /// The position of the newest record that has a receipt, or 0 before the first.
    package var position: UInt64 { reader.tail.position }

    // MARK: Appending

    /// Checks the condition and inserts the row in one statement, so that nothing can come between them. The term must be this one,
    /// and the newest row must be exactly the one before this row. Commits must wait for the same standbys as at the beginning of
    /// the term.
    private static let append = PreparedStatement(
        "append",
        """
        WITH held AS (
            SELECT id, trimmed_position, trimmed_checksum FROM loop_journal
                WHERE id = $1 AND term = $2 AND nonce = $3 AND current_setting('synchronous_standby_names') = $11
                FOR SHARE)
        INSERT INTO loop_batch (journal_id, first_position, last_position, first_seq, last_seq, checksum, term, records)
            SELECT id, $4, $5, $6, $7, $8, $2, $10
                FROM held LEFT JOIN LATERAL (SELECT last_position, checksum FROM loop_batch WHERE journal_id = $1
                    ORDER BY first_position DESC LIMIT 1) AS newest ON true
                WHERE coalesce(newest.last_position, trimmed_position) = $4 - 1
                    AND coalesce(newest.checksum, trimmed_checksum) = $9
        """)

    /// Appends the records of a turn as one row, and waits until the database has committed it and all that were sent before.
    /// - Parameters:
    ///   - records: the records, in order. Without records, an append only shows that this process still owns the journal.
    ///   - position: the position of the last of them.
    /// - Throws: `JournalError` of kind `.misuse` if positions or seqs do not follow. Of kind `.unreachable` if it is unknown
    ///   whether the records are in the journal. After any error nothing more can be appended.
    package func append(_ records: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt {
        var newest = try beginAppend(records, through: position)
        while let receipt = try takeReceipt(waits: true) { newest = receipt }
        guard let newest, newest.position == position else {
            throw .misuse("append the records through \(position)", "its receipt was taken elsewhere")
        }
        return newest
    }

    /// Sends the records of a turn as one row, and does not wait for the commit.
    /// - Returns: a receipt if there are no records, and no other append is on its way.
    /// - Throws: as `append`.
    package func beginAppend(
        _ records: RecordLog, through position: UInt64
    ) throws(JournalError) -> JournalReceipt? {
        let operation = "append the records through \(position)"
        guard sent.position + UInt64(records.count) == position else {
            throw .misuse(operation, "they end at \(sent.position + UInt64(records.count))")
        }
        guard !records.isEmpty else {
            if held.awaitsReceipts { return nil }
            try held.prove(operation)
            return JournalReceipt(through: position)
        }
        let seq: UInt64
        do throws(JournalError) {
            seq = try records.newestSeq(after: sent.seq, operation)
        } catch {
            // The journal and its caller disagree on the state of the loop, so nothing more is written.
            return try held.use(operation) { _ throws(JournalError) in throw error }
        }
        let row = BatchRow(after: sent, count: UInt64(records.count), lastSeq: seq, records: records.bytes.span)
        let parameters =
            try held.condition(operation) + row.parameters
            + [.number(sent.checksum), .bytes(records.bytes), .text(held.standbyNames)]
        if durability != .fsync && records.outlivesPower {
            try appendSynced(row.link, parameters, operation)
        } else {
            try held.send(Self.append, parameters, operation, ending: row.link)
        }
        sent = row.link
        return nil
    }

    /// Appends with a commit that is more durable than the others. That is rare, so it waits.
    private func appendSynced(
        _ link: ChainLink, _ parameters: [Parameter], _ operation: String
    ) throws(JournalError) {
        try held.use(operation, isProof: true) { session throws(JournalError) in
            try session.setSynchronousCommit(true)
            guard try session.run(Self.append, parameters, operation).affectedCount == 1 else {
                throw .notHeld(operation, session.url)
            }
            try session.setSynchronousCommit(false)
        }
        held.addReceipt(link)
    }

    /// The next receipt of the appends that were sent, in their order.
    /// - Parameter waits: whether to wait for it, for at most 5 s after the append was sent.
    /// - Returns: nil if none was sent, or its commit is not confirmed yet.
    /// - Throws: as `append`. No append that was sent gets a receipt any more.
    package func takeReceipt(waits: Bool) throws(JournalError) -> JournalReceipt? {
        let link: ChainLink?
        do throws(JournalError) {
            link = try held.takeReceipt(waits: waits)
        } catch {
            // It is unknown whether the sent rows are there, so nothing is sent behind them.
            sent = reader.tail
            throw error
        }
        guard let link else { return nil }
        reader.tail = link
        if durability == .fsync { memory?.withState { $0.known?.end = link } }
        return JournalReceipt(through: link.position)
    }

    /// The connection's descriptor while an append has no receipt, or nil otherwise.
    package var receiptDescriptor: Int32? { held.awaitsReceipts ? held.descriptor : nil }

    package func isFree(within limit: Duration) -> Bool { held.isFree(within: limit) }

    /// Asks the server over another connection what the newest statement waits for.
    package var inquiry: (@Sendable () -> JournalError?)? {
        { [wait = held.wait, url = held.url] in
            guard let cause = wait.ask() else { return nil }
            let late = PostgresError(.late, "write", text: "a statement has no answer yet", host: wait.host)
            return .postgres("write", late, at: url, cause: cause)
        }
    }

    /// Renews the lease, even if it was just renewed.
    /// - Throws: `JournalError` of kind `.unreachable` if another process may own the journal.
    package func prove() throws(JournalError) { try held.renew("prove that it leads") }

    /// The lease, which other processes watch, or nil if the journal only reads.
    package var lease: JournalLease? { isReadOnly ? nil : held.heldLease }

    /// Does nothing, because each append proves that the journal is there.
    package func flush() throws(JournalError) {}

    // MARK: Reading

    package func rows(to operation: String) -> any BatchRows { rows }

    /// The seq of the oldest event in the journal, or nil if it has none.
    package func firstSeq() throws(JournalError) -> Seq? {
        let id = held.journalID
        let found = try held.use("be read") { session throws(JournalError) in
            try session.run(
                """
                SELECT first_seq FROM loop_batch WHERE journal_id = $1 AND last_seq >= first_seq
                    ORDER BY first_position LIMIT 1
                """, [.integer(id)], "be read")
        }
        return found.integer(0, 0).map { Seq(UInt64(bitPattern: $0)) }
    }

    /// True, because the servers of a database may differ.
    package var mayLag: Bool { true }

    /// Makes the next reader try another server first, because this one is behind the leader.
    package func leaveSource() { held.leave() }

    /// Finds what the writing process has appended since the last call.
    /// - Returns: whether this is still the loop's journal of its name.
    @discardableResult package func refresh() throws(JournalError) -> Bool {
        guard isReadOnly else { return true }
        let (loop, keptAs) = (loop, keptAs)
        let row = try held.use("be read") { session throws(JournalError) in try session.row(of: loop, keptAs) }
        // A journal that was set aside meanwhile does not change.
        guard let row, row.id == held.journalID else { return false }
        reader.base = row.base
        reader.tail = row.tail
        hasEnded = row.hasEnded
        return true
    }

    // MARK: Ending

    /// Notes that the loop has ended and its outcome was reported, so that the next run begins with a new journal.
    package func markEnded() throws(JournalError) {
        let (operation, id) = ("note that the loop has ended", held.journalID)
        _ = try held.fenced(operation) { connection throws(PostgresError) in
            try connection.run(
                "UPDATE loop_journal SET ended = true WHERE id = $1", [.integer(id)], operation,
                within: PostgresSession.limit)
        }
        hasEnded = true
    }

    /// Releases the journal, so that another process may take it at once. After an error, or if the release cannot be written,
    /// others must wait until the lease is over. A second call does nothing.
    package func close() { end(releases: true) }

    /// Drops the connection as the end of the process would.
    package func abandon() { end(releases: false) }

    private func end(releases: Bool) {
        guard !isClosed else { return }
        isClosed = true
        held.close(releases: releases && !isReadOnly, at: reader.tail)
        memory?.withState { $0.isOpen = false }
    }

    deinit { end(releases: true) }
}
