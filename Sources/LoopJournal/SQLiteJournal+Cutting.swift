internal import Linux
package import LoopCluster
package import LoopCore
package import LoopWire

extension SQLiteJournal {
    /// Keeps the events up to a seq and the records before the next event, and appends a record of a new history. This is the
    /// remedy if a journal is damaged in the middle, or if its end is not wanted.
    ///
    /// The old journal remains next to the new one as `PATH.damaged`. What an earlier cut has kept there must be moved away first.
    /// - Parameters:
    ///   - path: the path of the journal. No process may have it open for writing.
    ///   - loop: the name of the loop. A journal of another loop is refused.
    ///   - seq: the last event to keep. 0 keeps none.
    ///   - newHistory: a random history, for the record.
    ///   - time: the wall time for the record.
    ///   - isForced: whether to cut even before an intact snapshot, from which a start would continue.
    /// - Throws: `JournalError` of kind `.corrupt` if an event up to `seq` cannot be read: the error names the last seq that can.
    ///   `.misuse` if the journal ends before `seq`, was trimmed beyond it or has an intact snapshot after it, or if there is a
    ///   `PATH.damaged`. `.locked` if another process has the journal. `.foreign` if it is not the loop's journal. `.readOnly` if
    ///   there is no file. Another kind if the system refuses the files.
    package static func cut(
        _ path: String, loop: String, after seq: Seq, newHistory: History, at time: WallTime, isForced: Bool = false
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
        try finishCut(paths, disk, loop: loop, report: &report)
        try checkKeepsDamaged(paths, disk, report)
        try disk.remove(paths.damaged.index)
        do throws(JournalError) {
            try makeReplacement(paths, loop: loop, after: seq, newHistory: newHistory, at: time, isForced: isForced)
        } catch {
            try? disk.remove(paths.unfinishedReplacement)
            throw error
        }
        // The replacement is there: the cut is decided, even if this process ends.
        try finishCut(paths, disk, loop: loop, report: &report)
        _ = consume lock
    }

    /// Refuses to overwrite the journal that an earlier cut has kept.
    /// - Parameter report: lines about what was done before, for the error.
    private static func checkKeepsDamaged(
        _ paths: JournalPaths, _ disk: Disk, _ report: [String]
    ) throws(JournalError) {
        guard disk.exists(paths.file), let kept = [paths.damaged.file, paths.damaged.log].first(where: disk.exists)
        else { return }
        throw JournalError(
            .misuse, operation: "be cut",
            reason: (report + ["\(kept) is what an earlier cut has kept"]).joined(separator: "; "),
            remedy: "move it away, with all files whose names begin with \(paths.damaged.file)")
    }

    /// Refuses a replacement that no cut of this journal has made. Changes nothing.
    /// - Parameter loop: the name of the loop, or nil if that of the replacement is not checked.
    static func checkReplacement(_ paths: JournalPaths, _ disk: Disk, loop: String?) throws(JournalError) {
        let path = paths.replacement
        do throws(JournalError) {
            _ = try naming("be opened") { () throws(OpeningError) in try DatabaseFiles(path, for: .reading) }
            let file = try JournalFile(path, .readUnchanging, system: nil)
            try file.checkVersion(path)
            let name = try file.metaText("loop") ?? ""
            let loop = loop ?? name
            try file.check(path, loop: loop, expected: nil)
            let traces = try Traces(JournalPaths(path), disk, log: LogInspection())
            _ = try file.judged(traces, loop: loop, path: path)
            // Nothing is found of a journal whose rows are all in its log.
            let replaced = try? JournalFile(paths.file, .readUnchanging, system: nil).meta("identity")
            guard try file.meta("made_whole") == 1, try [file.meta("identity"), nil].contains(replaced) else {
                throw JournalError(
                    .foreign, operation: "be opened", reason: "no cut of this journal has made it", remedy: "")
            }
        } catch {
            guard !error.kind.mayPass else { throw error }
            throw JournalError(
                error.kind, operation: "be opened",
                reason: "\(path) cannot take the place of \(paths.file): \(error.reason)",
                remedy: "move \(path) away")
        }
    }

    /// Renames a complete replacement to the journal's name.
    static func finishCut(
        _ paths: JournalPaths, _ disk: Disk, loop: String, report: inout [String]
    ) throws(JournalError) {
        guard disk.exists(paths.replacement) else { return }
        // The replacement becomes the journal, so it must meet the same conditions.
        try checkFiles(JournalPaths(paths.replacement))
        try checkReplacement(paths, disk, loop: loop)
        try checkKeepsDamaged(paths, disk, report)
        if disk.exists(paths.file) { try disk.rename(paths.file, to: paths.damaged.file) }
        // A log must never lie next to a file to which it does not belong.
        if disk.exists(paths.log) { try disk.rename(paths.log, to: paths.damaged.log) }
        try disk.remove(paths.index)
        try disk.syncFolder(Disk.folder(of: paths.file))
        try disk.rename(paths.replacement, to: paths.file)
        try disk.syncFolder(Disk.folder(of: paths.file))
        report.append("finished a trim that was interrupted; what it has cut off is in \(paths.damaged.file)")
    }

    /// Makes the complete replacement of a journal.
    private static func makeReplacement(
        _ paths: JournalPaths, loop: String, after seq: Seq, newHistory: History, at time: WallTime, isForced: Bool
    ) throws(JournalError) {
        let files = try checkFiles(paths)
        let disk = Disk()
        let traces = try Traces(paths, disk, log: disk.inspectLog(paths.log))
        let source = try JournalFile(paths.file, .write, system: nil)
        try source.check(paths.file, loop: loop, expected: nil)
        try source.checkIsOne(of: files)
        let base = try source.base()
        let judged: Judged?
        do throws(JournalError) {
            judged = try source.judged(traces, loop: loop, path: paths.file)
        } catch {
            // A cut is the remedy for a journal that a start would refuse, and not for an error that may pass.
            guard isForced || !error.kind.mayPass else { throw error }
            judged = nil
        }
        let reader = RowReader(loop: loop, place: paths.file, base: base, tail: judged?.tail ?? base)
        let usable = try judged.map { judged throws(JournalError) in
            try source.snapshots().filter { $0.position >= base.position && $0.position <= judged.tail.position }
        }
        let folder = SnapshotFolder(path: paths.snapshots, disk: disk)
        func isIntact(_ entry: SnapshotEntry) throws(JournalError) -> Bool {
            try entry.isIntact { entry throws(JournalError) in try folder.content(of: entry) }
        }
        let rowCut = RowCut(reader, after: seq)
        if let usable, !isForced { try rowCut.check(usable, isIntact: isIntact) }
        let replacement = try FileArrival(
            paths.replacement, unfinished: paths.unfinishedReplacement, loop: loop, history: source.history(),
            base: base)
        let end: ChainLink
        do throws(JournalError) {
            end = try rowCut.copy(source, newHistory: newHistory, at: time) { row, bytes throws(JournalError) in
                try replacement.insert(row, bytes)
            }
        } catch {
            throw reader.advised(
                error, snapshots: usable ?? [], isIntact: { (try? isIntact($0)) ?? false }, in: source)
        }
        let kept = try source.snapshots().filter { $0.position >= base.position && $0.position <= end.position }
        try rowCut.checkStart(from: kept, isIntact: isIntact)
        for entry in kept { try replacement.list(entry) }
        try replacement.finish()
    }
}
