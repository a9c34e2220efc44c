package import LoopCluster
package import LoopCore

extension SQLiteJournal {
    /// Removes whole rows below a seq, up to a snapshot that is intact and not the newest one. That snapshot is kept. Later records
    /// use the space, but the file does not become smaller.
    /// - Returns: the seq of the oldest remaining event, or that of the next event if none remains.
    /// - Throws: `JournalError` if the journal was closed or opened for reading, or if reading or writing fails or has failed
    ///   before. After an error in writing nothing more can be appended.
    package func trim(before seq: Seq) throws(JournalError) -> Seq {
        let operation = "trim the records before seq \(seq)"
        let file = try writable(operation)
        try checkNames(operation)
        let found = try reader.cut(before: seq, snapshots: snapshots(), isIntact: isIntact, in: file)
        if let (snapshot, end) = found {
            let obsolete = try file.snapshots().filter { $0.position < snapshot.position }
            try writing(operation) { () throws(SQLiteError) in
                // Synced like the row of a snapshot, because the removed files do not come back.
                try file.setSynchronous(.fsync)
                try file.trim(through: end, forgetting: obsolete)
                try file.setSynchronous(durability)
            }
            reader.base = end
            try removeFiles(of: obsolete, operation)
        }
        return try firstSeq() ?? Seq(reader.tail.seq + 1)
    }
}

extension JournalFile {
    func trim(through end: ChainLink, forgetting snapshots: [SnapshotEntry]) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            try database.execute("DELETE FROM batches WHERE last_position <= \(end.position)")
            for entry in snapshots { try database.execute("DELETE FROM snapshots WHERE position = \(entry.position)") }
            try setBase(end)
        }
    }

    /// Notes the end of the trimmed rows.
    func setBase(_ base: ChainLink) throws(SQLiteError) {
        try set("trimmed_position", Int64(bitPattern: base.position))
        try set("trimmed_seq", Int64(bitPattern: base.seq))
        try set("trimmed_checksum", Int64(base.checksum))
    }
}
