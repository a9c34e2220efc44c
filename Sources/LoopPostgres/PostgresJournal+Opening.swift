internal import Linux
package import LoopCluster
package import LoopCore
internal import LoopJournal
package import LoopNode
package import LoopWire

/// How a journal in a database is opened for writing.
package struct PostgresOpening {
    package var loop: String
    package var durability = Durability.fsync
    /// A random history, used only if a new journal is made.
    package var newHistory: History
    /// How long after the last renewal no other process may take the journal.
    package var lease = PostgresOpening.standardLease
    /// The address of this process for its peers, or nil if it is not known. Processes that wait for the journal can read it.
    package var address: String?
    /// Whether to wait while another process has the journal or the database does not answer.
    package var waits = false
    /// Called about 20 times a second while it waits, with what is known of the holder. Returns whether to go on waiting.
    package var whileWaiting: ((JournalOwner) -> Bool)?
    /// How long a short statement may take.
    package var deadline = ReducerNodeConfiguration.standardDeadline
    /// The time until which it takes the journal only if another process has owned it since this one did.
    package var standsBackUntil: MonotonicTime?
    /// The time until which an operator wants another process to take the journal first.
    package var leavesItUntil: @Sendable () -> MonotonicTime = { .zero }
    /// How long this process leaves a free journal to others. The arguments are the positions of its newest record and of its
    /// newest snapshot.
    package var headStart: (_ newest: UInt64, _ snapshot: UInt64) -> Duration = { _, _ in .zero }
    /// Called with the end of the journal after each sign of life of the holder.
    package var hears: (@Sendable (RowEnd) -> Void)?
    /// Returns whether to give up waiting.
    package var isStopping: @Sendable () -> Bool = { false }
    /// Called with lines about the opening, for people.
    package var note: (String) -> Void = { _ in }
    /// Whether to keep a journal of a run that has ended, instead of beginning a new one.
    package var keepsEnded = false
    /// Whether to renew the lease. False is for tests of a holder that is frozen.
    package var renews = true

    package init(loop: String, newHistory: History) {
        self.loop = loop
        self.newHistory = newHistory
    }

    package static let standardLease = ReducerNodeConfiguration.standardLease
}

extension PostgresJournal {
    /// Opens a journal for writing, or makes a new one.
    ///
    /// Without `waits` it still watches a holder that may have died, for a little more than a lease.
    /// - Parameters:
    ///   - url: the database, which must have the tables.
    ///   - opening: the loop, and how to open its journal.
    ///   - memory: what this process remembers of earlier openings of the journal.
    /// - Throws: `JournalError` of kind `.locked` if another process has the journal. `.foreign` if the tables are missing or of
    ///   another version. `.corrupt` if acknowledged records are missing or damaged. `.unreachable` if the database does not
    ///   answer.
    package static func open(
        _ url: ConnectionString, _ opening: PostgresOpening, memory: JournalMemory
    ) throws(JournalError) -> PostgresJournal {
        let isFree = memory.withState { state in
            let isFree = !state.isOpen
            state.isOpen = true
            return isFree
        }
        guard isFree else {
            throw JournalError(
                .locked, operation: "be opened for writing", reason: "this process has it (\(url))",
                remedy: "close it first")
        }
        var takeover = Takeover(
            url: url, loop: opening.loop, durability: opening.durability, newHistory: opening.newHistory,
            lease: opening.lease, memory: memory, address: opening.address, waits: opening.waits,
            whileWaiting: opening.whileWaiting, isStopping: opening.isStopping, renews: opening.renews)
        takeover.limit = opening.deadline
        takeover.standsBackUntil = opening.standsBackUntil
        takeover.leavesItUntil = opening.leavesItUntil
        takeover.headStart = opening.headStart
        takeover.hears = opening.hears
        do throws(JournalError) {
            while true {
                do throws(JournalError) {
                    return try openOnce(takeover, opening)
                } catch {
                    let isKnown = memory.withState { $0.known != nil }
                    try takeover.waitOut(isKnown ? error.ofKnownJournal : error)
                }
            }
        } catch {
            memory.withState { $0.isOpen = false }
            throw error
        }
    }

    /// Takes the journal, or a new one if its run has ended.
    private static func openOnce(
        _ takeover: Takeover, _ opening: PostgresOpening
    ) throws(JournalError) -> PostgresJournal {
        let journal = try take(takeover, opening)
        guard journal.hasEnded, !opening.keepsEnded else { return journal }
        do {
            defer {
                journal.close()
                // This process has the journal, closed or not.
                takeover.memory.withState { $0.isOpen = true }
            }
            try journal.setAside()
        }
        takeover.memory.withState { $0.known = nil }
        opening.note(
            "the run of \(takeover.url) has ended; its journal is kept as \(KeptAs.previous.rawValue) now, and a new one begins"
        )
        return try take(takeover, opening)
    }

    /// Takes the journal, and checks its newest rows.
    private static func take(
        _ takeover: Takeover, _ opening: PostgresOpening
    ) throws(JournalError) -> PostgresJournal {
        let memory = takeover.memory
        let (held, row, report) = try takeover.run()
        held.lead(memory.sources)
        do throws(JournalError) {
            var reader = RowReader(loop: row.loop, place: takeover.url.description, base: row.base, tail: row.tail)
            // Only a tool has the time to look for damage, and a tool keeps a journal that has ended.
            reader.looksForDamage = opening.keepsEnded
            let rows = PostgresRows(held: held)
            try checkTail(reader, rows, known: row.known, snapshot: newestSnapshot(held))
            if opening.durability == .fsync { try checkReceipt(memory, reader, rows) }
            memory.withState { $0.note(term: row.term.number, of: row.id) }
            try removeOthersThanListed(held)
            if opening.durability != .fsync {
                try held.use("set the durability") { session throws(JournalError) in
                    try session.setSynchronousCommit(false)
                }
            }
            return PostgresJournal(
                held, row, reader: reader, durability: opening.durability, keptAs: .current, memory: memory,
                report: report)
        } catch {
            defer { held.close(releases: true) }
            throw held.proven(error)
        }
    }

    /// The position of the newest snapshot, or 0 if there is none.
    private static func newestSnapshot(_ held: HeldConnection) throws(JournalError) -> UInt64 {
        let found = try held.use("be opened") { session throws(JournalError) in
            try session.run(
                "SELECT max(position) FROM loop_snapshot WHERE journal_id = $1", [.integer(held.journalID)],
                "be opened")
        }
        return UInt64(clamping: found.integer(0, 0) ?? 0)
    }

    /// Checks that the newest row is whole, and that nothing shows that there were rows behind it.
    /// - Parameters:
    ///   - known: the end of the journal at its last orderly close.
    ///   - snapshot: the position of the newest snapshot. Snapshots contain only records with a receipt.
    private static func checkTail(
        _ reader: RowReader, _ rows: PostgresRows, known: ChainLink, snapshot: UInt64
    ) throws(JournalError) {
        let (end, tail) = (max(known.position, snapshot), reader.tail)
        guard tail.position >= end else {
            throw reader.damaged(after: tail, "the records up to \(end) were there and are not")
        }
        if known.position > reader.base.position {
            let row = try rows.rows(through: known.position, max: 1).first ?? nil
            guard row?.link == known else {
                throw reader.damaged(after: reader.base, "record \(known.position) is not the one that was there")
            }
        }
        let newest = try rows.rows(through: UInt64(Int64.max), max: 2)
        guard let last = newest.first else { return }
        guard let last else { throw reader.damaged(after: reader.base, "the newest row's numbers cannot be") }
        let before = newest.count == 2 ? newest[1]?.link : reader.base
        guard let before else { throw reader.damaged(last, "the row before has numbers that cannot be") }
        try rows.forEachRow(from: last.firstPosition, bytesMax: 1) { row, bytes throws(JournalError) in
            _ = try reader.checked(row, after: before, bytes)
            return false
        }
    }

    /// Checks that the records for which this process has a receipt are there. If not, no host of the URL has them, because the
    /// takeover has asked them all.
    private static func checkReceipt(
        _ memory: JournalMemory, _ reader: RowReader, _ rows: PostgresRows
    ) throws(JournalError) {
        // The journal of another run, or one that was cut, has another number.
        guard let known = memory.withState({ $0.known }), known.journal == rows.held.journalID, let receipt = known.end,
            receipt.position > reader.base.position
        else { return }
        let row = try rows.rows(through: receipt.position, max: 1).first ?? nil
        guard row?.link == receipt else {
            throw JournalError(
                .corrupt, operation: "be opened",
                reason: "acknowledged records are missing from \(reader.place): record \(receipt.position), seq"
                    + " \(receipt.seq), was committed, is not at \(rows.held.wait.host), and no other host of the URL has it",
                remedy: HistoryLost.remedy(loop: reader.loop, seq: reader.tail.seq, place: reader.place.shellWord),
                fault: JournalFault(.historyLost, host: rows.held.wait.host))
        }
    }

    /// Opens a journal for reading, even while a reducer writes it. Each read sees what was appended meanwhile.
    /// - Parameter sources: the choice of the host to try first.
    /// - Throws: `JournalError` of kind `.readOnly` if the loop has no journal there. Otherwise as `open`.
    package static func read(
        _ url: ConnectionString, loop: String, keptAs: KeptAs = .current, hosts sources: HostChoice? = nil
    ) throws(JournalError) -> PostgresJournal {
        var session = try PostgresSchema.session(
            url, for: .reading, name: "loop/read", hosts: sources ?? HostChoice())
        guard let row = try session.row(of: loop, keptAs) else { throw .none(of: loop, keptAs, "be read", at: url) }
        let held = HeldConnection(session, journalID: row.id, term: nil, lease: .zero, provenAt: .zero)
        let reader = RowReader(loop: row.loop, place: url.description, base: row.base, tail: row.tail)
        return PostgresJournal(held, row, reader: reader, durability: .fsync, keptAs: keptAs, memory: nil, report: [])
    }

    /// Keeps the journal as that of the previous run, and removes an older one of that name.
    private func setAside() throws(JournalError) {
        let (operation, id, loop) = ("be set aside", held.journalID, loop)
        try held.fenced(operation) { connection throws(PostgresError) in
            try connection.removeJournal(of: loop, keptAs: KeptAs.previous.rawValue, operation)
            _ = try connection.run(
                "UPDATE loop_journal SET kept_as = 'previous' WHERE id = $1", [.integer(id)], operation,
                within: PostgresSession.limit)
        }
    }
}

extension PostgresConnection {
    /// Removes the journal that a loop has under a name.
    mutating func removeJournal(of loop: String, keptAs: String, _ operation: String) throws(PostgresError) {
        _ = try run(
            """
            WITH gone AS (DELETE FROM loop_journal WHERE loop_id = $1 AND kept_as = $2 RETURNING id),
                renewals AS (DELETE FROM loop_renewal USING gone WHERE journal_id = gone.id),
                batches AS (DELETE FROM loop_batch USING gone WHERE journal_id = gone.id),
                snapshots AS (DELETE FROM loop_snapshot USING gone WHERE journal_id = gone.id),
                pieces AS (DELETE FROM loop_snapshot_piece USING gone WHERE journal_id = gone.id)
            SELECT count(*) FROM gone
            """,
            [.integer(Int64(bitPattern: LoopID(name: loop).value)), .text(keptAs)], operation,
            within: PostgresSession.longLimit)
    }
}
