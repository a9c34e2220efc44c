internal import Linux
package import LoopCluster
internal import LoopCore
internal import LoopJournal
package import LoopNode
package import LoopWire

extension PostgresJournal {
    /// Opens a journal for writing, or makes a new one.
    ///
    /// Without `waits` it still watches a holder that may have died, for a little more than a lease.
    /// - Parameters:
    ///   - url: the database, which must have the tables.
    ///   - opening: the loop, and how to open its journal.
    ///   - newHistory: a random history, used only if a new journal is made.
    ///   - memory: what this process remembers of earlier openings of the journal.
    ///   - renews: whether to renew the lease. False is for tests of a holder that is frozen.
    /// - Throws: `JournalError` of kind `.locked` if another process has the journal. `.foreign` if the tables are of another version, or
    ///   if they are missing and it does not wait. `.corrupt` if acknowledged records are missing or damaged. `.unreachable` if the database does not
    ///   answer.
    package static func open(
        _ url: ConnectionString, _ opening: JournalPlace.Opening, newHistory: History, memory: JournalMemory,
        renews: Bool = true
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
        let takeover = Takeover(url: url, opening: opening, memory: memory, newHistory: newHistory, renews: renews)
        do throws(JournalError) {
            while true {
                do throws(JournalError) {
                    return try openOnce(takeover)
                } catch {
                    let isExpected = opening.waits || memory.withState { $0.known != nil }
                    try takeover.waitOut(isExpected ? error.ofExpectedJournal : error)
                }
            }
        } catch {
            memory.withState { $0.isOpen = false }
            throw error
        }
    }

    /// Takes the journal, or a new one if its run has ended.
    private static func openOnce(_ takeover: Takeover) throws(JournalError) -> PostgresJournal {
        let journal = try take(takeover)
        guard journal.hasEnded, !takeover.opening.keepsEnded else { return journal }
        do {
            defer {
                journal.close()
                // This process has the journal, closed or not.
                takeover.memory.withState { $0.isOpen = true }
            }
            try journal.setAside()
        }
        takeover.memory.withState { $0.known = nil }
        takeover.opening.note(
            "the run of \(takeover.url) has ended; its journal is kept as \(KeptAs.previous.rawValue) now, and a new one begins"
        )
        return try take(takeover)
    }

    /// Takes the journal, and checks its newest rows.
    private static func take(_ takeover: Takeover) throws(JournalError) -> PostgresJournal {
        let (memory, opening) = (takeover.memory, takeover.opening)
        let (held, row, report) = try takeover.run()
        held.lead(memory.sources)
        do throws(JournalError) {
            var reader = RowReader(row, at: takeover.url)
            // Only a tool has the time to look for damage, and a tool keeps a journal that has ended.
            reader.looksForDamage = opening.keepsEnded
            let rows = PostgresRows(held: held)
            let snapshot = try held.use("be opened") { session throws(JournalError) in
                try session.newestSnapshot(of: held.journalID)
            }
            try checkTail(reader, rows, known: row.known, snapshot: snapshot)
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
        return PostgresJournal(
            held, row, reader: RowReader(row, at: url), durability: .fsync, keptAs: keptAs, memory: nil, report: [])
    }

    /// Takes a journal for a tool, which checks each row that it reads.
    static func takeUnchecked(_ takeover: Takeover) throws(JournalError) -> (journal: PostgresJournal, row: JournalRow)
    {
        let (held, row, _) = try takeover.run()
        let journal = PostgresJournal(
            held, row, reader: RowReader(row, at: takeover.url), durability: .fsync, keptAs: .current,
            memory: JournalMemory(), report: [])
        return (journal, row)
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

extension RowReader {
    fileprivate init(_ row: JournalRow, at url: ConnectionString) {
        self.init(loop: row.loop, place: url.description, base: row.base, tail: row.tail)
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
