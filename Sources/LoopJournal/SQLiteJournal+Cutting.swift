public import LoopCluster
public import LoopCore
public import LoopWire
internal import SQLite

extension SQLiteJournal {
    /// Keeps the events up to a seq and the records before the next event, and appends a record of a new history. It
    /// is the remedy if a journal is damaged in the middle, or if its end is not wanted.
    ///
    /// The old journal stays next to the new one as `PATH.damaged`.
    /// - Parameters:
    ///   - path: the journal; no process may have it open for writing.
    ///   - seq: the last event to keep; 0 keeps none.
    ///   - newHistory: a random history, for the record.
    ///   - time: the wall time for the record.
    /// - Throws: `JournalError` of kind `.corrupt` if an event up to `seq` cannot be read: the error names the last
    ///   seq that can. `.misuse` if the journal ends before `seq` or was trimmed beyond it, `.locked` if another
    ///   process has it, `.foreign` if it is no journal, `.readOnly` if there is no file; else if the system refuses
    ///   the files.
    public static func cut(
        _ path: String, after seq: Seq, newHistory: History, at time: WallTime
    ) throws(JournalError) {
        let paths = JournalPaths(path)
        let disk = Disk()
        let operation = "be cut after seq \(seq)"
        guard disk.exists(path) || disk.exists(paths.replacement) else {
            throw JournalError(
                .readOnly, operation: operation, reason: "there is no file \(path)",
                remedy: "give the path of a journal")
        }
        try checkFiles(paths)
        let lock = try OwnerLock(paths.lock, whileLocked: nil)
        var report: [String] = []
        try finishCut(paths, disk, report: &report)
        for old in [paths.unfinishedReplacement, paths.damaged.file, paths.damaged.log, paths.damaged.index] {
            try disk.remove(old)
        }
        do throws(JournalError) {
            try makeReplacement(paths, after: seq, newHistory: newHistory, at: time)
        } catch {
            try? disk.remove(paths.unfinishedReplacement)
            throw error
        }
        try disk.sync(paths.unfinishedReplacement)
        // From here on the cut is decided, whatever becomes of this process.
        try disk.rename(paths.unfinishedReplacement, to: paths.replacement)
        try disk.syncFolder(Disk.folder(of: path))
        try finishCut(paths, disk, report: &report)
        _ = consume lock
    }

    /// Puts a replacement that is complete into its place.
    static func finishCut(_ paths: JournalPaths, _ disk: Disk, report: inout [String]) throws(JournalError) {
        guard disk.exists(paths.replacement) else { return }
        // It takes the journal's place, so it must be what the journal must be.
        try checkFiles(JournalPaths(paths.replacement))
        if disk.exists(paths.file) { try disk.rename(paths.file, to: paths.damaged.file) }
        // A log is never left next to a file to which it does not belong.
        if disk.exists(paths.log) { try disk.rename(paths.log, to: paths.damaged.log) }
        try disk.remove(paths.index)
        try disk.syncFolder(Disk.folder(of: paths.file))
        try disk.rename(paths.replacement, to: paths.file)
        try disk.syncFolder(Disk.folder(of: paths.file))
        report.append("finished a trim that was interrupted; what it has cut off is in \(paths.damaged.file)")
    }

    private static func makeReplacement(
        _ paths: JournalPaths, after seq: Seq, newHistory: History, at time: WallTime
    ) throws(JournalError) {
        let files = try checkFiles(paths)
        let source = try JournalFile(paths.file, .write, system: nil)
        try source.checkVersion(paths.file)
        try source.checkIsOne(of: files)
        let loop = try source.metaText("loop") ?? ""
        try source.checkIdentity(paths.file, loop: loop)
        let replacement = try JournalFile(paths.unfinishedReplacement, .create, system: nil)
        try naming("be copied") { () throws(SQLiteError) in
            // It does not count until it is renamed: it needs no log, and one sync at the end.
            try replacement.execute("PRAGMA page_size = \(FileLayer().pageBytes)")
            try replacement.execute("PRAGMA journal_mode = MEMORY")
            try replacement.execute("PRAGMA synchronous = OFF")
        }
        try replacement.create(loop: loop, history: source.history())
        let base = try source.base()
        try naming("be copied") { () throws(SQLiteError) in try replacement.execute("BEGIN") }
        let reader = RowReader(loop: loop, place: paths.file, base: base, tail: base)
        let end = try RowCut(reader, after: seq).copy(source, newHistory: newHistory, at: time) {
            row, bytes throws(JournalError) in
            try naming("be copied") { () throws(SQLiteError) in try replacement.insert(row, bytes) }
        }
        let kept = try source.snapshots().filter { $0.position >= base.position && $0.position <= end.position }
        try naming("be copied") { () throws(SQLiteError) in
            if base != .start { try replacement.setBase(base) }
            try replacement.set("made_whole", 1)
            for entry in kept { try replacement.insert(entry) }
            try replacement.execute("COMMIT")
        }
    }
}
