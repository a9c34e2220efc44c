internal import Linux
package import LoopCluster
package import LoopCore
internal import LoopJournal
internal import LoopNode
internal import LoopWire

/// Moves a journal with its rows, history, sessions and snapshots from a file into a database, or back. First the source is marked,
/// then the copy gets its name. So a process that ends in between never leaves two live journals. A repeated call finishes the
/// move.
package enum JournalMove {
    /// The result of a move.
    package struct Moved: Equatable, Sendable {
        /// The loop that the journal belongs to.
        package let loop: String
        /// The position and the seq of its newest record.
        package let position: UInt64, seq: Seq
    }

    /// Moves a journal from a file into a database.
    /// - Throws: `JournalError` of kind `.locked` if a reducer has the file. `.foreign` if it is being moved elsewhere, or if the
    ///   database has a journal of the loop. Another kind if one of them cannot be read or written.
    package static func file(_ path: String, to url: ConnectionString) throws(JournalError) -> Moved {
        let source = try SQLiteJournal.openToMove(path)
        defer { source.close() }
        let (base, tail) = (source.reader.base, source.reader.tail)
        let moved = Moved(loop: source.loop, position: tail.position, seq: Seq(tail.seq))
        if let place = try source.movesTo(), place != url.description {
            throw JournalError(
                .foreign, operation: "be copied", reason: "\(path) moves to \(place)",
                remedy: "finish that: loopctl journal copy \(path.shellWord) \(place.shellWord)")
        }
        var session = try PostgresSchema.session(url, for: .writing, name: "loop/copy")
        let older = try session.row(of: source.loop, .current)
        // The copy is made at the host that has the tables.
        let place = url.only(session.connection.host)
        session.drop()
        if let older, older.movedTo == nil {
            // The copy got its name, but the earlier call has not reported it. The copy has at least the records of the file.
            let isOurs =
                try source.movesTo() != nil && older.history == Int64(bitPattern: source.history.value)
                && older.tail.position >= tail.position
            if isOurs { return moved }
            throw JournalError(
                .foreign, operation: "be copied", reason: "\(url) has a journal of the loop \(source.loop)",
                remedy: "move that one away first: loopctl journal copy \(url.description.shellWord) FILE "
                    + "--loop \(source.loop.shellWord)")
        }
        try source.noteMove(to: url.description)
        var arrival = try PostgresArrival(place, loop: source.loop, history: Int64(bitPattern: source.history.value))
        try source.forEachRow { row, bytes throws(JournalError) in try arrival.insert(row, bytes) }
        for entry in try source.snapshots() { try arrival.insert(entry, try source.content(of: entry)) }
        try arrival.finish(base, tail, hasEnded: source.hasEnded)
        try arrival.activate(source.loop, expecting: tail, replacing: older)
        return moved
    }

    /// Moves a journal from a database into a new file.
    /// - Parameters:
    ///   - url: the database.
    ///   - loop: the loop of the journal, or nil for the only loop of the database.
    ///   - path: the path of the file, which must not exist yet.
    /// - Throws: `JournalError` of kind `.locked` if a reducer has the journal. `.foreign` if there is such a file, or if no loop
    ///   is named and the database does not have exactly one. Another kind if one of them cannot be read or written.
    package static func database(
        _ url: ConnectionString, loop: String?, to path: String
    ) throws(JournalError) -> Moved {
        guard let loop else { return try database(url, loop: try onlyLoop(of: url), to: path) }
        let operation = "be copied"
        let (source, row) = try PostgresJournal.takeUnchecked(
            Takeover(
                url: url, opening: JournalPlace.Opening(loop: loop), memory: JournalMemory(), movesTo: path))
        defer { source.close() }
        let arrival = try FileArrival(
            path, loop: loop, history: History(UInt64(bitPattern: row.history)), base: row.base)
        _ = try source.held.fenced(operation) { connection throws(PostgresError) in
            try connection.run(
                "UPDATE loop_journal SET moved_to = $2 WHERE id = $1", [.integer(row.id), .text(path)], operation,
                within: PostgresSession.limit)
        }
        try source.reader.forEachRow(in: source.rows) { row, bytes throws(JournalError) in
            try arrival.insert(row, bytes)
        }
        for entry in try source.snapshots() { try arrival.insert(entry, try source.content(of: entry)) }
        try arrival.finish(hasEnded: row.hasEnded)
        return Moved(loop: loop, position: row.tail.position, seq: Seq(row.tail.seq))
    }

    private static func onlyLoop(of url: ConnectionString) throws(JournalError) -> String {
        var session = try PostgresSchema.session(url, for: .reading, name: "loop/copy")
        let found = try session.run(
            "SELECT loop FROM loop_journal WHERE kept_as = 'current' ORDER BY loop LIMIT 20", "be copied")
        guard found.count == 1, let loop = found.text(0, 0) else {
            let names = (0..<found.count).compactMap { found.text($0, 0) }.joined(separator: ", ")
            throw JournalError(
                .foreign, operation: "be copied",
                reason: "\(url) has journals of \(found.count == 0 ? "no loop" : names)",
                remedy: "say which one is meant: --loop NAME")
        }
        return loop
    }
}

extension PostgresArrival {
    /// Gives the copy the name of the journal, after a check that its last row is there and is the right one.
    mutating func activate(
        _ loop: String, expecting tail: ChainLink, replacing older: JournalRow?
    ) throws(JournalError) {
        try session.setSynchronousCommit(true)
        let (operation, id) = ("be copied", journalID)
        do throws(PostgresError) {
            try session.connection.transaction(operation, within: PostgresSession.longLimit) {
                connection throws(PostgresError) in
                let last = try connection.run(
                    "SELECT checksum FROM loop_batch WHERE journal_id = $1 ORDER BY first_position DESC LIMIT 1",
                    [.integer(id)], operation, within: PostgresSession.limit)
                guard last.integer(0, 0) ?? Int64(tail.checksum) == Int64(tail.checksum) else {
                    throw PostgresError(.lost, operation, text: "the copy does not end as the original")
                }
                if older?.movedTo != nil {
                    try connection.removeJournal(of: loop, keptAs: KeptAs.current.rawValue, operation)
                }
                try connection.activate(id, term: (older?.term.number ?? 0) + 1, operation)
            }
        } catch {
            throw .postgres(operation, error, at: session.url)
        }
    }
}
