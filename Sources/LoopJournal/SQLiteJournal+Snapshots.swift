package import LoopCluster
internal import LoopCore
internal import LoopCollections

extension SQLiteJournal {
    package func listed() throws(JournalError) -> [SnapshotEntry] { try readable("list the snapshots").snapshots() }

    /// Reads the bytes of a snapshot and checks them.
    /// - Throws: `JournalError` of kind `.corrupt` if they are not what was written. Another kind if the file cannot be read.
    package func content(of snapshot: SnapshotEntry) throws(JournalError) -> [UInt8] {
        try folder.content(of: snapshot)
    }

    /// Writes the bytes of a snapshot into a file and syncs it. Safe on any thread, while records are appended. The result has size
    /// and checksum filled in, and counts once it is passed to ``add(_:)``. Nil if the journal was opened for reading.
    package var snapshotWriter: (@Sendable (SnapshotEntry, [UInt8]) throws(JournalError) -> SnapshotEntry)? {
        guard !isReadOnly else { return nil }
        return { [folder, unlisted] (entry, bytes) throws(JournalError) in
            folder.removeAll(unlisted)
            return try folder.write(entry, bytes)
        }
    }

    /// Lists a written snapshot. All but the newest 3 are removed. Of a trimmed
    /// journal the oldest stays too, because the remaining records continue it.
    /// - Parameter snapshot: the result of ``snapshotWriter``.
    /// - Throws: `JournalError` of kind `.misuse` if the snapshot's position is not one of the journal, or if the journal was
    ///   closed or opened for reading. Another kind if writing fails or has failed before.
    package func add(_ snapshot: SnapshotEntry) throws(JournalError) {
        let operation = "add the snapshot of seq \(snapshot.seq)"
        let file = try writable(operation)
        try check(snapshot, operation)
        try checkNames(operation)
        let (forgotten, replaced) = try obsolete(by: snapshot)
        try writing(operation) { () throws(SQLiteError) in
            try file.add(snapshot, forgetting: forgotten, reader.tail)
        }
        superseded += forgotten + replaced
        if durability == .fsync { unlistSuperseded() }
    }

    /// Hands over files whose rows are gone on the disk too, because a loss of power must not bring those rows back. The writer of
    /// the next snapshot removes the files on its own thread: freeing a hundred megabytes takes the system 30 ms.
    func unlistSuperseded() {
        unlisted.withLock { $0 += superseded }
        superseded = []
    }

    /// Removes the files of snapshots whose rows are gone. Their rows must be gone on the disk first.
    func removeFiles(of entries: [SnapshotEntry], _ operation: String) throws(JournalError) {
        if durability != .fsync, !entries.isEmpty {
            let file = try writable(operation)
            try writing(operation) { () throws(SQLiteError) in try file.checkpoint() }
        }
        for entry in entries { try folder.remove(entry) }
    }
}

extension SnapshotFolder {
    func remove(_ entry: SnapshotEntry) throws(JournalError) {
        try disk.removeInSteps(path + "/" + Self.name(entry))
    }

    /// Removes files that are of no use. One that cannot be removed does no harm.
    func removeAll(_ unlisted: Locked<[SnapshotEntry]>) {
        let entries = unlisted.withLock { entries in
            defer { entries = [] }
            return entries
        }
        for entry in entries { try? remove(entry) }
    }
}

extension JournalFile {
    /// The snapshots, the newest first. A row with impossible numbers is skipped.
    func snapshots() throws(JournalError) -> [SnapshotEntry] {
        var statement = try statement(
            "SELECT position, seq, fingerprint, bytes, checksum FROM snapshots ORDER BY position DESC")
        var entries: [SnapshotEntry] = []
        while try naming("list the snapshots", { () throws(SQLiteError) in try statement.step() }) {
            let entry = SnapshotEntry(
                listedAt: statement.integer(0), seq: statement.integer(1), fingerprint: statement.integer(2),
                byteCount: statement.integer(3), checksum: statement.integer(4))
            if let entry { entries.append(entry) }
        }
        return entries
    }

    /// Adds a row and removes others in one transaction.
    func add(_ entry: SnapshotEntry, forgetting others: some Sequence<SnapshotEntry>, _ tail: ChainLink)
        throws(SQLiteError)
    {
        try database.transaction { () throws(SQLiteError) in
            try insert(entry)
            try set("position", Int64(bitPattern: tail.position))
            for other in others { try database.execute("DELETE FROM snapshots WHERE position = \(other.position)") }
        }
    }

    func insert(_ entry: SnapshotEntry) throws(SQLiteError) {
        var insertion = try Statement("REPLACE INTO snapshots VALUES (?1, ?2, ?3, ?4, ?5, ?6)", in: database)
        try insertion.bind(1, Int64(bitPattern: entry.position))
        try insertion.bind(2, Int64(bitPattern: entry.seq.value))
        try insertion.bind(3, Int64(bitPattern: entry.fingerprint))
        try insertion.bind(4, SnapshotFolder.name(entry))
        try insertion.bind(5, Int64(entry.byteCount))
        try insertion.bind(6, Int64(entry.checksum))
        try insertion.run()
    }
}
