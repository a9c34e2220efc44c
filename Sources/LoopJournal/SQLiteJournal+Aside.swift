package import LoopCluster

extension SQLiteJournal {
    /// Renames a journal and the files that belong to it to `PATH.previous`, so that the next opening makes a new journal. An older
    /// `PATH.previous` is removed.
    /// - Returns: the new path, or nil if there was no journal.
    /// - Throws: `JournalError` of kind `.locked` if another process writes the journal. Another kind if a file cannot be renamed
    ///   or removed.
    @discardableResult
    package static func setAside(_ path: String) throws(JournalError) -> String? {
        let disk = Disk()
        guard disk.exists(path) else { return nil }
        let from = JournalPaths(path)
        let to = JournalPaths(path + ".previous")
        let lock = try OwnerLock(from.lock, whileLocked: nil)
        // Puts everything into one file, if that still works. A damaged journal is set aside as it is.
        _ = try? disk.inspectLog(from.log, rewrites: true)
        if let file = try? JournalFile(path, .write, system: nil) {
            file.database.removesLogAtClose()
            _ = try? file.checkpoint()
        }
        // Removes the snapshots of an older journal. Without its file, they belong to this one, because a process ended in between.
        if disk.exists(to.file) { try disk.removeFolder(to.snapshots) }
        for file in [to.log, to.index, to.end, to.file, from.end] { try disk.remove(file) }
        // Renames the file last: without it, the other files show that a journal is missing.
        if disk.exists(from.snapshots) { try disk.rename(from.snapshots, to: to.snapshots) }
        try disk.syncFolder(Disk.folder(of: path))
        try disk.rename(from.file, to: to.file)
        if disk.exists(from.log) { try disk.rename(from.log, to: to.log) }
        try disk.remove(from.index)
        try disk.syncFolder(Disk.folder(of: path))
        _ = consume lock
        return to.file
    }
}
