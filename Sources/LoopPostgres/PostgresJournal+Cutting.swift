package import LoopCluster
package import LoopCore
internal import LoopJournal
internal import LoopNode
package import LoopWire

extension PostgresJournal {
    /// Keeps the events up to a seq and the records before the next event, and appends a record of a new history. This is the
    /// remedy if a journal is damaged in the middle, or if its end is not wanted. The old journal is kept as the damaged one. What
    /// an earlier cut has kept must get another name first.
    /// - Parameters:
    ///   - loop: the name of the loop.
    ///   - seq: the last event to keep. 0 keeps none.
    ///   - newHistory: a random history, for the record.
    ///   - time: the wall time for the record.
    ///   - isForced: whether to cut even before an intact snapshot, from which a start would continue.
    /// - Throws: `JournalError` of kind `.corrupt` if an event up to `seq` cannot be read. `.misuse` if the journal ends before
    ///   `seq`, was trimmed beyond it, has an intact snapshot after it, or if a damaged journal is kept. `.locked` if another
    ///   process has the journal. `.readOnly` if there is none.
    package static func cut(
        _ url: ConnectionString, loop: String, after seq: Seq, newHistory: History, at time: WallTime,
        memory: JournalMemory, isForced: Bool = false
    ) throws(JournalError) {
        let operation = "be cut after seq \(seq)"
        let (source, row) = try takeUnchecked(
            Takeover(url: url, opening: JournalPlace.Opening(loop: loop), memory: memory))
        defer { source.close() }
        let (held, rows, reader) = (source.held, source.rows, source.reader)
        try checkKeepsDamaged(held, loop)
        let snapshots = try source.snapshots()
        let rowCut = RowCut(reader, after: seq)
        if !isForced { try rowCut.check(snapshots, isIntact: source.isIntact) }
        var arrival = try PostgresArrival(held.wait.url, loop: loop, history: row.history)
        var tail = row.base
        let end: ChainLink
        do throws(JournalError) {
            end = try rowCut.copy(rows, newHistory: newHistory, at: time) { row, bytes throws(JournalError) in
                try arrival.insert(row, bytes)
                tail = row.link
            }
        } catch {
            throw reader.advised(
                error, snapshots: snapshots, isIntact: { (try? source.content(of: $0)) != nil }, in: rows)
        }
        try rowCut.checkStart(
            from: snapshots.filter { row.base.position...end.position ~= $0.position }, isIntact: source.isIntact)
        try arrival.insertSnapshots(of: row.id, from: row.base, through: end)
        try arrival.finish(row.base, tail)
        let arrivalID = arrival.journalID
        try held.fenced(operation) { connection throws(PostgresError) in
            _ = try connection.run(
                "UPDATE loop_journal SET kept_as = 'damaged' WHERE id = $1", [.integer(row.id)], operation,
                within: PostgresSession.limit)
            try connection.activate(arrivalID, term: row.term.number + 1, operation)
        }
        // The records that were cut off are not missing.
        memory.withState { $0.known = nil }
    }

    /// Refuses to overwrite the journal that an earlier cut has kept.
    private static func checkKeepsDamaged(_ held: HeldConnection, _ loop: String) throws(JournalError) {
        let found = try held.use("be cut") { session throws(JournalError) in try session.row(of: loop, .damaged) }
        guard let kept = found else { return }
        throw JournalError(
            .misuse, operation: "be cut", reason: "\(held.url)#damaged is what an earlier cut has kept",
            remedy: "give it another name: UPDATE loop_journal SET kept_as = 'damaged-\(kept.id)' WHERE id = \(kept.id)"
        )
    }
}
