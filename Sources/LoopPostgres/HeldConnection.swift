internal import LoopCluster
internal import LoopCore
internal import LoopJournal
internal import LoopCollections
internal import LoopNode

/// The connection of a journal. The reducer's thread and the thread that renews the lease use it in turn. All appends and renewals
/// of a term go through it, one behind the other.
///
/// Appends are sent without waiting. Any other use of the connection first takes their outcomes, and keeps the receipts here for
/// the reducer's thread.
///
/// A separate thread renews the lease, because the reducer's thread cannot while it replays a journal or reduces a long event. A
/// renewal is a commit and not a query, because an isolated old primary answers queries.
final class HeldConnection: Sendable {
    private struct Turn {
        var isUsed = false
        var isClosing = false
        /// The error after which nothing more is done.
        var failure: JournalError?
        /// When the newest successful write was sent.
        var provenAt: MonotonicTime
        /// When the newest write was sent.
        var sentAt: MonotonicTime
        /// What the last look has shown.
        var database: DatabaseFigures?
        /// Appends that were sent, with outcomes that were not taken.
        var sent: [(link: ChainLink, at: MonotonicTime)] = []
        /// Committed appends that the reducer's thread does not know of yet.
        var receipts: [ChainLink] = []
    }

    let url: ConnectionString
    let journalID: Int64
    /// The term, or nil if the connection only reads.
    let term: Term?
    /// The standbys for which the server's commits wait. Each append has them as a condition.
    let standbyNames: String
    /// Readable when the outcome of an append may be there.
    let descriptor: Int32
    /// A query for what the newest statement waits for.
    let wait: StatementQuestion
    /// The number of the server that the connection leads to, and the choice of hosts to update. They are copied, because another
    /// thread may use the session.
    private let (host, hosts): (Int, HostChoice?)
    private let lease: Duration
    private let session: Exclusive<PostgresSession>
    private let turn: Monitor<Turn>

    /// - Parameter provenAt: when the statement was sent that began the term.
    init(
        _ session: consuming sending PostgresSession, journalID: Int64, term: Term?, lease: Duration,
        provenAt: MonotonicTime
    ) {
        url = session.url
        self.journalID = journalID
        self.term = term
        self.lease = lease
        standbyNames = session.standbyNames
        (host, hosts) = (session.connection.host, session.hosts)
        descriptor = session.connection.descriptor
        wait = session.wait
        self.session = Exclusive(session)
        turn = Monitor(Turn(provenAt: provenAt, sentAt: provenAt))
    }

    // MARK: Use

    /// Runs `body` behind everything that was sent, while no other thread uses the connection. After an error the connection is not
    /// used any more.
    /// - Parameter isProof: whether its success shows that this process still owns the journal.
    func use<Result: ~Copyable>(
        _ operation: String, isProof: Bool = false,
        _ body: (inout PostgresSession) throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        try useAtOnce(operation, isProof: isProof) { session throws(JournalError) in
            try takeOutcomes(&session)
            return try body(&session)
        }
    }

    /// Runs `body` as `use` does, but while appends may be on their way.
    private func useAtOnce<Result: ~Copyable>(
        _ operation: String, isProof: Bool = false,
        _ body: (inout PostgresSession) throws(JournalError) -> Result
    ) throws(JournalError) -> Result {
        try turn.wait(until: { !$0.isUsed }) { turn throws(JournalError) in
            if let failure = turn.failure { throw .afterwards(operation, failure) }
            guard !turn.isClosing else { throw .misuse(operation, "it was closed") }
            turn.isUsed = true
        }
        let began = SystemClock.monotonic
        do throws(JournalError) {
            let result = try session.withValue { session throws(JournalError) in try body(&session) }
            end(provenAt: isProof ? began : nil, failure: nil)
            return result
        } catch {
            session.withValue { $0.drop() }
            let error = error.ofExpectedJournal
            end(provenAt: nil, failure: error)
            throw error
        }
    }

    /// Waits until no other thread uses the connection, for the limit at most.
    func isFree(within limit: Duration) -> Bool { turn.wait(until: { !$0.isUsed }, timeout: limit) }

    private func end(provenAt: MonotonicTime?, failure: JournalError?) {
        turn.withLock { turn in
            turn.isUsed = false
            if let provenAt {
                turn.provenAt = provenAt
                turn.sentAt = provenAt
            }
            if turn.failure == nil { turn.failure = failure }
        }
        turn.broadcast()
    }

    /// Runs `body` in a transaction that fails as a whole if this process no longer owns the journal.
    func fenced<Result: ~Copyable>(
        _ operation: String, within limit: Duration = PostgresSession.longLimit,
        _ body: (inout PostgresConnection) throws(PostgresError) -> Result
    ) throws(JournalError) -> Result {
        let condition = try condition(operation)
        return try use(operation, isProof: true) { session throws(JournalError) in
            let short = session.limit
            var isHeld = true
            do throws(PostgresError) {
                return try session.connection.transaction(operation, within: limit) {
                    connection throws(PostgresError) in
                    let held = try connection.run(Self.lock, condition, operation, within: short)
                    isHeld = held.count == 1
                    guard isHeld else {
                        throw PostgresError(.refused, operation, text: "another process holds the journal now")
                    }
                    return try body(&connection)
                }
            } catch {
                guard isHeld else { throw .notHeld(operation, session.url) }
                throw session.failure(operation, error)
            }
        }
    }

    /// The journal and its term, for a statement's condition.
    func condition(_ operation: String) throws(JournalError) -> [Parameter] {
        guard let term else { throw .misuse(operation, "it was opened for reading") }
        return [.integer(journalID), .integer(term.number), .integer(term.nonce)]
    }

    // MARK: The server

    /// Makes readers try this server first from now on.
    func lead(_ sources: HostChoice) { sources.prefer(host) }

    /// Makes readers try another server first from now on, because this one is behind.
    func leave() { hosts?.leave(host) }

    // MARK: Appends

    /// Sends an append that ends at `link`, and does not wait for its outcome.
    func send(
        _ statement: PreparedStatement, _ parameters: [Parameter], _ operation: String, ending link: ChainLink
    ) throws(JournalError) {
        try useAtOnce(operation) { session throws(JournalError) in
            let now = SystemClock.monotonic
            try session.send(statement, parameters, operation)
            turn.withLock { turn in
                turn.sent.append((link, now))
                turn.sentAt = now
            }
        }
    }

    /// Queues the receipt of an append that was committed in another way.
    func addReceipt(_ link: ChainLink) { turn.withLock { $0.receipts.append(link) } }

    /// Whether a receipt is there or will come.
    var awaitsReceipts: Bool { turn.withLock { !$0.sent.isEmpty || !$0.receipts.isEmpty } }

    /// The next receipt, in the order in which the appends were sent.
    /// - Returns: the end of the append, or nil if none was sent or its outcome is not there yet.
    func takeReceipt(waits: Bool) throws(JournalError) -> ChainLink? {
        let operation = "take a receipt"
        let isSent = try turn.withLock { turn throws(JournalError) in
            if let failure = turn.failure { throw .afterwards(operation, failure) }
            // The other thread may be waiting for a statement. A caller that does not wait tries again later.
            return turn.receipts.isEmpty && !turn.sent.isEmpty && (waits || !turn.isUsed)
        }
        if isSent {
            // The other thread may have taken the outcome meanwhile.
            try useAtOnce(operation) { session throws(JournalError) in
                if turn.withLock({ $0.receipts.isEmpty }) { _ = try takeOutcome(&session, waits: waits) }
            }
        }
        return turn.withLock { $0.receipts.isEmpty ? nil : $0.receipts.removeFirst() }
    }

    private func takeOutcomes(_ session: inout PostgresSession) throws(JournalError) {
        while try takeOutcome(&session, waits: true) {}
    }

    /// - Returns: whether an outcome was there. It is a receipt, or an error is thrown.
    private func takeOutcome(_ session: inout PostgresSession, waits: Bool) throws(JournalError) -> Bool {
        guard try session.takeAppend(waits: waits) else { return false }
        turn.withLock { turn in
            let append = turn.sent.removeFirst()
            turn.receipts.append(append.link)
            turn.provenAt = append.at
        }
        return true
    }

    // MARK: The lease

    /// The lease, with its duration and its newest proof.
    var heldLease: JournalLease {
        turn.withLock {
            JournalLease(duration: lease, provenAt: $0.provenAt, database: $0.database)
        }
    }

    /// Inserts a row and deletes the one before. The index leads to each without reading dead rows.
    private static let renewal = PreparedStatement(
        "renew",
        """
        WITH held AS (SELECT id, \(JournalRow.renewals) AS number FROM loop_journal
                WHERE id = $1 AND term = $2 AND nonce = $3 FOR SHARE),
            gone AS (DELETE FROM loop_renewal USING held WHERE journal_id = held.id AND loop_renewal.number = held.number)
        INSERT INTO loop_renewal SELECT id, number + 1 FROM held
        """)

    /// Locks the journal's row, so that no takeover, append or renewal happens before the transaction ends.
    private static let lock = PreparedStatement(
        "lock", "SELECT 1::bigint FROM loop_journal WHERE id = $1 AND term = $2 AND nonce = $3 FOR UPDATE")

    /// Renews the lease unless its newest proof is younger than a lease: then no other process may have taken the journal since.
    func prove(_ operation: String) throws(JournalError) {
        let (failure, provenAt, isClosing) = turn.withLock { ($0.failure, $0.provenAt, $0.isClosing) }
        if let failure { throw .afterwards(operation, failure) }
        if isClosing { throw .misuse(operation, "it was closed") }
        if SystemClock.monotonic - provenAt > lease { try renew() }
    }

    /// Proves by a commit that begins now that this process still owns the journal.
    func renew(_ operation: String = "renew its lease") throws(JournalError) {
        let condition = try condition(operation)
        // Another process may take the journal, and end this connection, when the lease is over.
        let pause = lease / 2
        try use(operation, isProof: true) { session throws(JournalError) in
            let done = try session.run(Self.renewal, condition, operation, asksAfter: pause)
            guard done.affectedCount == 1 else {
                throw .notHeld(operation, session.url)
            }
        }
    }

    /// Proves an error that says that the journal is damaged, lacks something or is another's. The error counts only if a later
    /// commit shows that no other process owned the journal meanwhile.
    /// - Returns: the error, or the error of that commit.
    func proven(_ error: JournalError) -> JournalError {
        if error.kind.mayPass { return error }
        do throws(JournalError) {
            try renew("prove that it leads")
            return error
        } catch {
            return error
        }
    }

    /// Starts the thread that renews the lease if nothing else has.
    func beginRenewals() throws(JournalError) {
        do {
            _ = try NodeThread("loop-lease") { self.renewUntilTheEnd() }
        } catch {
            throw JournalError(
                .unreachable, operation: "renew its lease", reason: "\(error)", remedy: "give the process more threads")
        }
    }

    /// How often it looks at the database.
    private static let looksEvery = Duration.seconds(30)

    /// Asks the database how it is, as far as this role may see it. A refusal does not end the term.
    private func look() throws(JournalError) {
        let operation = "look at the database"
        let figures = try use(operation) { session throws(JournalError) -> DatabaseFigures in
            var figures = DatabaseFigures(hosts: (0..<url.hostCount).map { url.only($0).hostName }, host: host)
            do throws(PostgresError) {
                let found = try session.connection.run(
                    Self.figures, [.integer(journalID)], operation, within: session.limit)
                figures.oldestTransaction = found.integer(0, 0).map { .seconds(max(0, $0)) }
                figures.tableBytes = found.integer(0, 1)
                figures.deadRows = found.integer(0, 2)
                figures.syncStandbys = found.integer(0, 3)
                figures.oldestSeq = found.integer(0, 4)
            } catch {
                if error.kind != .refused { throw session.failure(operation, error) }
            }
            return figures
        }
        turn.withLock { $0.database = figures }
    }

    /// The age of the oldest transaction that keeps dead rows of this database, and the other figures. They come from the catalogue and
    /// from statistics, because a function that opened a table would wait for its locks.
    private static let figures =
        """
        SELECT (\(oldestTransaction)),
            (SELECT sum(own.relpages::bigint + coalesce(toast.relpages, 0))::bigint * current_setting('block_size')::bigint
                FROM pg_class AS own LEFT JOIN pg_class AS toast ON toast.oid = own.reltoastrelid
                WHERE starts_with(own.relname::text, 'loop_') AND own.relnamespace = journal.relnamespace),
            (SELECT sum(pg_stat_get_dead_tuples(oid))::bigint FROM pg_class
                WHERE relname IN ('loop_journal', 'loop_renewal') AND relnamespace = journal.relnamespace),
            CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN
                (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) END,
            (SELECT trimmed_seq FROM loop_journal WHERE id = $1)
        FROM pg_class AS journal WHERE oid = 'loop_journal'::regclass
        """

    /// The age in seconds of the oldest transaction that keeps dead rows of this database, as far as the role sees it.
    static let oldestTransaction = """
        SELECT coalesce(extract(epoch FROM max(age))::bigint, 0) FROM (
            SELECT now() - xact_start AS age FROM pg_stat_activity
                WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
                    AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
            UNION ALL SELECT now() - prepared FROM pg_prepared_xacts WHERE database = current_database()) AS ages
        """

    private func renewUntilTheEnd() {
        let every = lease / 4
        var (triedAt, looksAt) = (MonotonicTime.zero, SystemClock.monotonic)
        while true {
            // An append that is on its way renews the lease, too.
            let due = turn.withLock { turn in max(turn.sentAt, triedAt) + every }
            let now = SystemClock.monotonic
            let isOver = turn.wait(
                until: { $0.isClosing || $0.failure != nil }, timeout: due > now ? due - now : .zero)
            if isOver { return }
            let isStale = turn.withLock { SystemClock.monotonic - $0.sentAt >= every }
            guard isStale || SystemClock.monotonic >= looksAt else { continue }
            triedAt = SystemClock.monotonic
            // A renewal would wait behind an append that waits. Then the reducer's thread could not ask for the reason.
            guard takesWhatIsThere() else { continue }
            // The next append, or the next turn without one, reports the error.
            try? renew()
            if SystemClock.monotonic >= looksAt {
                looksAt = SystemClock.monotonic + Self.looksEvery
                try? look()
            }
        }
    }

    /// Takes the outcomes that have arrived, and waits for no others.
    /// - Returns: whether all outcomes were taken.
    private func takesWhatIsThere() -> Bool {
        try? useAtOnce("take a receipt") { session throws(JournalError) in
            while try takeOutcome(&session, waits: false) {}
        }
        return turn.withLock { $0.sent.isEmpty }
    }

    // MARK: The end

    /// Closes the connection. Other processes may take the journal at once, unless something has failed.
    /// - Parameters:
    ///   - releases: whether to mark the journal's row as released.
    ///   - end: the end of the newest row with a receipt, as far as the caller knows, or nil if the caller does not know it.
    func close(releases: Bool, at end: ChainLink? = nil) {
        let mayRelease: Bool? = turn.wait(until: { !$0.isUsed }) { turn in
            guard !turn.isClosing else { return nil }
            turn.isClosing = true
            return turn.failure == nil
        }
        guard let mayRelease else { return }
        turn.broadcast()
        session.withValue { session in
            // Appends on their way are committed first. Otherwise the row of a released journal would still change.
            let isSettled = releases && mayRelease && (try? takeOutcomes(&session)) != nil
            if isSettled, let condition = try? condition("release it") {
                let newest = (turn.withLock { $0.receipts.last } ?? end)?.parameters ?? []
                let known = newest.isEmpty ? "" : ", position = $4, seq = $5, checksum = $6"
                let sql = "UPDATE loop_journal SET released = true\(known) WHERE id = $1 AND term = $2 AND nonce = $3"
                _ = try? session.run(sql, condition + newest, "release it")
            }
            session.drop()
        }
    }
}
