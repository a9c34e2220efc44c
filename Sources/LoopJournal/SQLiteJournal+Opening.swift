internal import Linux
package import LoopCluster
package import LoopWire

extension SQLiteJournal {
    /// Opens a journal for writing, or makes a new one.
    ///
    /// All acknowledged records are there, or the opening fails. The end of a batch that was never acknowledged is cut off and
    /// reported in ``openReport``.
    /// - Parameters:
    ///   - path: the path of the file. Its other files are in the same folder. Their names are this name and an ending.
    ///   - loop: the name of the loop. A journal of another loop is refused.
    ///   - durability: the guarantee of a receipt.
    ///   - newHistory: a random history, used only if a new journal is made.
    ///   - expected: the history of the journal that must be there, if this process has had it open before.
    ///   - address: the address of this process for its peers. Processes that wait for the journal can read it.
    ///   - whileLocked: called about 20 times a second while another process has the journal, with the error that would be thrown.
    ///     Returns whether to continue waiting. Nil does not wait.
    /// - Throws: `JournalError` of kind `.locked` if another process has the journal and `whileLocked` is nil or returns false.
    ///   `.busy` if a program that is no reducer is in its way for 10 s. `.moved` if an expected journal is not there. `.foreign`
    ///   if the file is another loop's, of another version or no journal, or if other users may change it. `.corrupt` if
    ///   acknowledged records are missing or damaged. Another kind if the system refuses the files.
    package static func open(
        _ path: String, loop: String, durability: Durability = .fsync, newHistory: History, expected: History? = nil,
        address: String? = nil, whileLocked: ((JournalError) -> Bool)? = nil
    ) throws(JournalError) -> SQLiteJournal {
        try open(
            path, loop: loop, durability: durability, newHistory: newHistory, expected: expected, address: address,
            whileLocked: whileLocked, layer: FileLayer())
    }

    /// The address at which peers find the process that has this path's journal, or nil if it names none.
    package static func ownerAddress(of path: String) -> String? { OwnerLock.address(in: JournalPaths(path).lock) }

    /// The path of the crash note next to this path's journal.
    package static func crashNote(of path: String) -> String { JournalPaths(path).note }

    /// Whether this process, as a reducer of this address, was the last one that had this path's journal.
    package static func wasThisProcessLast(at path: String, address: String?) -> Bool {
        OwnerLock.isMarked(JournalPaths(path).lock, address: address)
    }

    package static func open(
        _ path: String, loop: String, durability: Durability, newHistory: History, expected: History? = nil,
        address: String? = nil, whileLocked: ((JournalError) -> Bool)?, layer: FileLayer, opensMoved: Bool = false
    ) throws(JournalError) -> SQLiteJournal {
        let paths = JournalPaths(path)
        let disk = layer.disk
        try checkFiles(paths)
        if expected != nil, !disk.exists(Disk.folder(of: path)) {
            throw .moved("be opened again", "there is no folder \(Disk.folder(of: path)) any more")
        }
        try refuseOtherFiles(paths)
        let lock = try OwnerLock(paths.lock, address: address, whileLocked: whileLocked)
        var report: [String] = []
        try finishCut(paths, disk, loop: loop, report: &report)
        // The process that had the lock may have changed the files.
        let files = try checkFiles(paths)
        let existed = files.exist
        if expected != nil, !existed { throw .moved("be opened again", "there is no \(path) any more") }
        let traces = try Traces(paths, disk, log: disk.inspectLog(paths.log, rewrites: true))
        // SQLite removes the log of a file that is empty.
        if !hasBytes(path) { try traces.checkNothingWasThere() }
        let file = try JournalFile(path, .create, system: layer.sqlite)
        let isNew = try traces.judging { () throws(JournalError) in try file.isEmpty() }
        try file.checkIsOne(of: files)
        let fileLock = try FileLock(path)
        if let warning = DatabaseFiles.warning(of: path) { report.append(warning) }
        if isNew {
            if expected != nil { throw .moved("be opened again", "\(path) is empty now") }
            try traces.checkNothingWasThere()
        } else {
            try file.check(path, loop: loop, expected: expected)
            if !opensMoved { try file.checkNotMoved(path) }
        }
        try file.prepare(isNew: isNew, layer, durability: durability)
        if isNew { try file.create(loop: loop, history: newHistory) }
        let judged = try file.judged(traces, loop: loop, path: path)
        report += judged.report
        if let short = judged.shortRow { try file.remove(short) }
        let note = try EndNote(paths.end, history: file.history(), durability: durability)
        let folder = SnapshotFolder(path: paths.snapshots, disk: disk)
        try folder.setAside(judged.lostSnapshots)
        if try file.meta("made_whole") == 1 {
            // `begin` makes the traces count again.
            note.write(judged.tail.position)
            try note.sync()
        }
        try file.begin(durability, judged.tail, traces.log)
        // The note is not written earlier, because it would promise rows that are not synced yet.
        note.write(judged.tail.position)
        if !traces.log.isWhole, try !disk.inspectLog(paths.log).isWhole {
            // A reader keeps the log from starting again. The torn pages must not follow the next row.
            try disk.truncate(paths.log, to: file.logBytes)
        }
        if !existed { try disk.syncFolder(Disk.folder(of: path)) }
        for name in try folder.removeOthers(than: file.snapshots()) {
            let what = name.hasSuffix(".new") ? "was not finished" : "is not listed, or not any more"
            report.append("removed \(paths.snapshots)/\(name): a snapshot that \(what)")
        }
        let journal = try SQLiteJournal(
            file, RowReader(loop: loop, place: path, base: judged.base, tail: judged.tail), folder: folder,
            durability: durability, checkpointPages: layer.checkpointPages, report: report)
        journal.lock = consume lock
        journal.fileLock = consume fileLock
        journal.endNote = consume note
        journal.names = OpenNames([path, paths.log, paths.index, paths.lock])
        return journal
    }

    private static func hasBytes(_ path: String) -> Bool { (FileSystem.status(of: path)?.size ?? 0) > 0 }

    /// Opens a journal for reading, even while a reducer writes it. Each read sees what was appended meanwhile.
    /// - Throws: `JournalError` of kind `.readOnly` if there is no file. `.foreign` if it is no journal or of another version.
    ///   `.corrupt` if a cut was interrupted or the journal's name is damaged. Another kind if the system refuses the files.
    package static func read(_ path: String) throws(JournalError) -> SQLiteJournal {
        let paths = JournalPaths(path)
        let disk = Disk()
        guard FileSystem.status(ofName: path) != nil else {
            throw JournalError(
                .readOnly, operation: "be read", reason: "there is no file \(path)",
                remedy: "give the path of a journal")
        }
        let files = try naming("be read") { () throws(OpeningError) in try DatabaseFiles(path, for: .reading) }
        try refuseOtherFiles(paths)
        if disk.exists(paths.replacement) {
            try checkReplacement(paths, disk, loop: nil)
            throw JournalError(
                .corrupt, operation: "be read", reason: "a trim of it was interrupted",
                remedy: "start the loop's reducer, or trim it again: that finishes it")
        }
        let traces = try Traces(paths, disk, log: disk.inspectLog(paths.log))
        // SQLite would remove the log of an empty file, and the log may be all that remains.
        if !hasBytes(path) {
            try traces.checkNothingWasThere()
            throw JournalError(.foreign, "be read", "\(path) is empty")
        }
        let file = try traces.judging { () throws(JournalError) in try JournalFile.forReading(paths) }
        try file.checkIsOne(of: files)
        try file.checkVersion(path)
        let loop = try file.metaText("loop") ?? ""
        try file.checkIdentity(path, loop: loop)
        let base = try file.base()
        var tail = try file.tail(after: base)
        var report = DatabaseFiles.warning(of: path).map { [$0] } ?? []
        var refusal: JournalError?
        // A process that writes the journal has checked it already.
        do throws(JournalError) {
            if try !FileLock.isHeld(path) {
                try checkFiles(paths, user: FileSystem.status(of: path)?.owner ?? System.userID)
                try file.checkNotMoved(path)
                let judged = try file.judged(traces, loop: loop, path: path)
                tail = judged.tail
                report += judged.report
            }
        } catch {
            refusal = error
        }
        return try SQLiteJournal(
            file, RowReader(loop: loop, place: path, base: base, tail: tail),
            folder: SnapshotFolder(path: paths.snapshots, disk: disk), durability: nil, report: report,
            startRefusal: refusal)
    }

    /// Refuses files that other users may change, and names that lead elsewhere, before anything is changed.
    @discardableResult
    static func checkFiles(
        _ paths: JournalPaths, user: UInt32 = System.userID
    ) throws(JournalError) -> DatabaseFiles {
        try naming("be opened") { () throws(OpeningError) in
            let files = try DatabaseFiles(paths.file, for: .writing, user: user)
            if let flaw = FileSystem.status(ofName: paths.snapshots)?.flawOfFolder(user: user) {
                throw .flaw(flaw, paths.snapshots)
            }
            for path in [paths.lock, paths.end, paths.note] {
                if let flaw = FileSystem.status(ofName: path)?.flaw(user: user) { throw .flaw(flaw, path) }
            }
            return files
        }
    }

    /// Refuses a file that is no database, before anything is made next to it.
    private static func refuseOtherFiles(_ paths: JournalPaths) throws(JournalError) {
        guard Disk().exists(paths.file) else { return }
        let isDatabase = try naming("be opened") { () throws(SQLiteError) in try Database.isDatabase(paths.file) }
        if isDatabase { return }
        let disk = Disk()
        try Traces(paths, disk, log: disk.inspectLog(paths.log)).judging { () throws(JournalError) in
            throw JournalError(.foreign, "be opened", "\(paths.file) is no journal")
        }
    }
}

/// The layer under a journal: the system's own calls, or those of tests that record or break them.
package struct FileLayer: Sendable {
    /// The name of SQLite's file system layer, or nil for the standard one.
    package var sqlite: String?
    package var disk = Disk()
    /// The size of the pages of a new file, in bytes.
    package var pageBytes = 8192
    /// How many pages the log has before they are moved into the file.
    package var checkpointPages = 500

    package init() {}
}
