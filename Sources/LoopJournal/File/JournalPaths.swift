/// The files of one journal, all in one folder.
struct JournalPaths: Sendable {
    let file: String

    init(_ file: String) { self.file = file }

    /// SQLite's write-ahead log, which has the newest batches.
    var log: String { file + "-wal" }
    /// SQLite's index of the log, shared by the processes that have the journal open.
    var index: String { file + "-shm" }
    /// The file that the process that may write has locked.
    var lock: String { file + "-lock" }
    /// The note of the journal's end, as in `EndNote`.
    var end: String { file + "-end" }
    /// The reducer's crash note.
    var note: String { file + "-note" }
    /// A complete and synced journal that is to replace this one. The next process that locks the journal finishes that.
    var replacement: String { file + ".cut" }
    /// The replacement while it is being made.
    var unfinishedReplacement: String { file + ".cut-new" }
    /// The paths of the journal that a replacement has replaced.
    var damaged: JournalPaths { JournalPaths(file + ".damaged") }
    var snapshots: String { file + ".snapshots" }
}
