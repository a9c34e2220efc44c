internal import Linux
package import LoopCluster
package import LoopWire

extension SQLiteJournal {
    /// Opens a journal to copy it elsewhere, or to continue an earlier copy. No reducer has it open meanwhile.
    package static func openToMove(_ path: String) throws(JournalError) -> SQLiteJournal {
        let reading = try read(path)
        let loop = reading.loop
        reading.close()
        return try open(
            path, loop: loop, durability: .fsync, newHistory: .none, whileLocked: nil, layer: FileLayer(),
            opensMoved: true)
    }

    /// The address to which the journal is being moved or was moved, or nil if it is not.
    package func movesTo() throws(JournalError) -> String? { try readable("be read").metaText("moved_to") }

    /// Notes for good to which address the journal is being moved. From now on no reducer opens it.
    package func noteMove(to place: String) throws(JournalError) {
        let operation = "note that it is moved"
        let file = try writable(operation)
        try writing(operation) { () throws(SQLiteError) in
            try file.setSynchronous(.fsync)
            try file.setText("moved_to", place)
        }
    }
}

/// A journal that is being copied into a file. No file has the final name before it is complete.
package final class FileArrival {
    private let path: String
    private let unfinished: String
    private let disk = Disk()
    private let file: JournalFile

    /// - Throws: `JournalError` of kind `.foreign` if there is a file of that name.
    package convenience init(_ path: String, loop: String, history: History, base: ChainLink) throws(JournalError) {
        guard !Disk().exists(path) else {
            throw JournalError(
                .foreign, operation: "be copied", reason: "there is a file \(path)",
                remedy: "move it away, or give another name")
        }
        try self.init(path, unfinished: path + ".arriving", loop: loop, history: history, base: base)
    }

    /// - Parameter unfinished: the path of the file until it is complete. A file that is there is removed.
    init(
        _ path: String, unfinished: String, loop: String, history: History, base: ChainLink
    ) throws(JournalError) {
        self.path = path
        self.unfinished = unfinished
        try disk.remove(unfinished)
        file = try JournalFile(unfinished, .create, system: nil)
        try naming("be copied") { [file] () throws(SQLiteError) in
            // The file does not count until it is renamed, so it needs no log, and only one sync at the end.
            try file.database.execute("PRAGMA page_size = \(FileLayer().pageBytes)")
            try file.database.execute("PRAGMA journal_mode = MEMORY")
            try file.database.execute("PRAGMA synchronous = OFF")
        }
        try file.create(loop: loop, history: history)
        try naming("be copied") { [file] () throws(SQLiteError) in
            try file.database.execute("BEGIN")
            if base != .start { try file.setBase(base) }
        }
    }

    /// Copies a row unchanged.
    package func insert(_ row: BatchRow, _ records: Span<UInt8>) throws(JournalError) {
        try naming("be copied") { () throws(SQLiteError) in try file.insert(row, records) }
    }

    /// Copies a snapshot.
    package func insert(_ entry: SnapshotEntry, _ bytes: [UInt8]) throws(JournalError) {
        try list(SnapshotFolder(path: JournalPaths(path).snapshots, disk: disk).write(entry, bytes))
    }

    /// Lists a snapshot whose bytes are there.
    func list(_ entry: SnapshotEntry) throws(JournalError) {
        try naming("be copied") { () throws(SQLiteError) in try file.insert(entry) }
    }

    /// Gives the file its final name, because it is complete and on the disk now.
    package func finish(hasEnded: Bool = false) throws(JournalError) {
        try naming("be copied") { () throws(SQLiteError) in
            try file.set("made_whole", 1)
            if hasEnded { try file.set("ended", 1) }
            try file.database.execute("COMMIT")
        }
        try disk.sync(unfinished)
        try disk.rename(unfinished, to: path)
        try disk.syncFolder(Disk.folder(of: path))
    }
}

extension JournalFile {
    /// Refuses a journal that continues elsewhere.
    func checkNotMoved(_ path: String) throws(JournalError) {
        guard let place = try metaText("moved_to") else { return }
        throw JournalError(
            .foreign, operation: "be opened", reason: "\(path) is being moved, or was moved, to \(place)",
            remedy: "open it there (--journal \(place.shellWord)), or finish the move: loopctl journal copy "
                + "\(path.shellWord) \(place.shellWord)")
    }
}
