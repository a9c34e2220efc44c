internal import Glibc
package import LoopCluster
package import LoopCore
internal import LoopJournal

extension PostgresJournal {
    /// How long the writer pauses after each piece, in microseconds.
    private static let pause: UInt32 = 4_000

    package func listed() throws(JournalError) -> [SnapshotEntry] {
        let (operation, id) = ("list the snapshots", held.journalID)
        let found = try held.use(operation) { session throws(JournalError) in
            try session.run(
                """
                SELECT position, seq, fingerprint, byte_count, checksum FROM loop_snapshot WHERE journal_id = $1
                    ORDER BY position DESC
                """, [.integer(id)], operation)
        }
        return (0..<found.count).compactMap { index in
            guard let fingerprint = found.integer(index, 2) else { return nil }
            return SnapshotEntry(
                listedAt: found.integer(index, 0) ?? -1, seq: found.integer(index, 1) ?? -1, fingerprint: fingerprint,
                byteCount: found.integer(index, 3) ?? -1, checksum: found.integer(index, 4) ?? -1)
        }
    }

    /// Reads the bytes of a snapshot and checks them.
    /// - Throws: `JournalError` of kind `.corrupt` if they are not what was written.
    package func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8] {
        let (operation, id) = ("read the snapshot of seq \(snapshot.seq)", held.journalID)
        var bytes: [UInt8] = []
        var piece: Int64 = 0
        while bytes.count < snapshot.byteCount {
            let parameters = [.integer(id)] + snapshot.key + [.integer(piece)]
            let found = try held.use(operation) { session throws(JournalError) in
                try session.run(
                    PreparedStatement(
                        "pieces",
                        """
                        SELECT content FROM loop_snapshot_piece
                            WHERE journal_id = $1 AND position = $2 AND checksum = $3 AND piece >= $4
                            ORDER BY piece LIMIT 16
                        """), parameters, operation)
            }
            if found.count == 0 { break }
            for index in 0..<found.count {
                found.withBytes(index, 0) { content in bytes.append(copying: content) }
            }
            piece += Int64(found.count)
        }
        guard bytes.count == snapshot.byteCount, snapshot.sum(of: bytes) == snapshot.checksum else {
            throw JournalError(
                .corrupt, operation: operation, reason: "\(url) has not the bytes that were written",
                remedy: "put a copy of it back")
        }
        return bytes
    }

    /// Writes the bytes of a snapshot over a separate connection to the same server. Safe on any thread, while records are
    /// appended. The result has size and checksum filled in, and counts once it is passed to `add`. Nil if the journal was opened
    /// for reading.
    package var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? {
        // Another host could be an old primary, which accepts the bytes although they do not count there. After an error nothing is
        // written.
        guard !isReadOnly, let host = try? held.use("find its server", { $0.connection.host }) else { return nil }
        return { [url = url.only(host), id = held.journalID] (entry, bytes) throws(JournalError) in
            var session = try PostgresSession.open(url, for: .writing(.os), name: "loop/snapshot")
            // The row that lists the snapshot is committed after these pieces, and makes them durable too.
            try session.setSynchronousCommit(false)
            return try session.write(entry, bytes, of: id, pause: Self.pause)
        }
    }

    /// Lists a written snapshot. All but the newest 3 are removed.
    /// - Throws: `JournalError` of kind `.misuse` if the snapshot's position is not one of the journal. `.unreachable` if its bytes
    ///   are not there.
    package func add(_ snapshot: SnapshotEntry) throws(JournalError) {
        let (operation, id) = ("add the snapshot of seq \(snapshot.seq)", held.journalID)
        try check(snapshot, operation)
        let (older, replaced) = try obsolete(by: snapshot)
        let term = held.term?.number ?? 0
        try held.fenced(operation) { connection throws(PostgresError) in
            for entry in older + replaced { try connection.remove(entry, of: id, operation) }
            try connection.list(snapshot, of: id, term: term, operation)
        }
    }

    /// Removes pieces that no row lists, because a process ended while it wrote them.
    static func removeOthersThanListed(_ held: HeldConnection) throws(JournalError) {
        let operation = "remove unfinished snapshots"
        _ = try held.fenced(operation) { connection throws(PostgresError) in
            _ = try connection.run(
                """
                DELETE FROM loop_renewal WHERE journal_id = $1
                    AND number < (SELECT max(number) FROM loop_renewal WHERE journal_id = $1)
                """, [.integer(held.journalID)], operation, within: PostgresSession.longLimit)
            return try connection.run(
                """
                DELETE FROM loop_snapshot_piece AS piece WHERE journal_id = $1 AND NOT EXISTS (
                    SELECT FROM loop_snapshot AS whole WHERE whole.journal_id = piece.journal_id
                        AND whole.position = piece.position AND whole.checksum = piece.checksum)
                """, [.integer(held.journalID)], operation, within: PostgresSession.longLimit)
        }
    }

    /// Removes whole rows below a seq, up to a snapshot that is intact and not the newest one. That snapshot is kept.
    /// - Returns: the seq of the oldest remaining event, or that of the next event if none remains.
    package func trim(before seq: Seq) throws(JournalError) -> Seq {
        let (operation, id) = ("trim the records before seq \(seq)", held.journalID)
        _ = try held.condition(operation)
        let found = try reader.cut(before: seq, snapshots: snapshots(), isIntact: isIntact, in: rows)
        if let (snapshot, end) = found {
            let obsolete = try listed().filter { $0.position < snapshot.position }
            try held.fenced(operation) { connection throws(PostgresError) in
                for entry in obsolete { try connection.remove(entry, of: id, operation) }
                try connection.trim(id, through: end, operation)
            }
            reader.base = end
        }
        return try firstSeq() ?? Seq(reader.tail.seq + 1)
    }
}

extension PostgresSession {
    /// The position of a journal's newest snapshot, or 0 if there is none.
    mutating func newestSnapshot(of journal: Int64) throws(JournalError) -> UInt64 {
        let found = try run(
            "SELECT max(position) FROM loop_snapshot WHERE journal_id = $1", [.integer(journal)], "be opened")
        return UInt64(clamping: found.integer(0, 0) ?? 0)
    }

    /// The size of a piece, in bytes. Larger pieces delay the appends that happen meanwhile.
    private static let pieceBytes = 256 << 10

    /// Writes a snapshot's bytes piece by piece.
    mutating func write(
        _ entry: SnapshotEntry, _ bytes: [UInt8], of journal: Int64, pause: UInt32
    ) throws(JournalError) -> SnapshotEntry {
        var entry = entry
        entry.byteCount = bytes.count
        entry.checksum = entry.sum(of: bytes)
        let insertion = PreparedStatement(
            "piece", "INSERT INTO loop_snapshot_piece VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING")
        for (piece, start) in stride(from: 0, to: bytes.count, by: Self.pieceBytes).enumerated() {
            _ = try run(
                insertion,
                [.integer(journal)] + entry.key
                    + [.number(piece), .bytes(Array(bytes[start..<min(bytes.count, start + Self.pieceBytes)]))],
                "keep a snapshot")
            // Appends wait for the same disk. Without pauses between the pieces, the slowest append takes ten times as long.
            if pause > 0 { usleep(pause) }
        }
        return entry
    }
}

extension SnapshotEntry {
    /// The position and the checksum, by which the pieces are found.
    fileprivate var key: [Parameter] { [.number(position), .number(checksum)] }
}

extension PostgresConnection {
    /// Removes a snapshot and its pieces.
    mutating func remove(_ entry: SnapshotEntry, of journal: Int64, _ operation: String) throws(PostgresError) {
        for table in ["loop_snapshot", "loop_snapshot_piece"] {
            _ = try run(
                "DELETE FROM \(table) WHERE journal_id = $1 AND position = $2 AND checksum = $3",
                [.integer(journal)] + entry.key, operation, within: PostgresSession.longLimit)
        }
    }

    /// Adds the row that makes a snapshot count.
    mutating func list(
        _ entry: SnapshotEntry, of journal: Int64, term: Int64, _ operation: String
    ) throws(PostgresError) {
        let added = try run(
            """
            INSERT INTO loop_snapshot (journal_id, position, seq, fingerprint, byte_count, checksum, term)
                SELECT $1, $2, $3, $4, $5, $6, $7 WHERE $5 = (
                    SELECT coalesce(sum(octet_length(content)), 0) FROM loop_snapshot_piece
                        WHERE journal_id = $1 AND position = $2 AND checksum = $6)
                ON CONFLICT (journal_id, position) DO UPDATE SET seq = excluded.seq, fingerprint = excluded.fingerprint,
                    byte_count = excluded.byte_count, checksum = excluded.checksum, term = excluded.term
            """,
            [
                .integer(journal), .number(entry.position), .number(entry.seq.value),
                .integer(Int64(bitPattern: entry.fingerprint)), .number(entry.byteCount), .number(entry.checksum),
                .integer(term),
            ], operation, within: PostgresSession.limit)
        guard added.affectedCount == 1 else {
            throw PostgresError(.lost, operation, text: "the server has not the snapshot's bytes")
        }
    }

    /// Removes the rows up to an end, and notes that end as the beginning of the rest.
    mutating func trim(_ journal: Int64, through end: ChainLink, _ operation: String) throws(PostgresError) {
        _ = try run(
            "DELETE FROM loop_batch WHERE journal_id = $1 AND first_position <= $2",
            [.integer(journal), .number(end.position)], operation, within: PostgresSession.longLimit)
        _ = try run(
            "UPDATE loop_journal SET trimmed_position = $2, trimmed_seq = $3, trimmed_checksum = $4 WHERE id = $1",
            [.integer(journal)] + end.parameters, operation, within: PostgresSession.limit)
    }
}
