/// The files of one journal, all in one folder.
struct JournalPaths: Sendable {
    let file: String

    init(_ file: String) { self.file = file }

    /// SQLite's write-ahead log: the newest batches are here.
    var log: String { file + "-wal" }
    /// SQLite's index of the log, shared by the processes that have the journal open.
    var index: String { file + "-shm" }
    /// Locked by the process that may write.
    var lock: String { file + "-lock" }
    /// The note of the journal's end: see `EndNote`.
    var end: String { file + "-end" }
    /// The reducer's note of what it does, in case its process ends in it.
    var note: String { file + "-note" }
    /// A journal that is to take the place of this one, complete and synced: whoever locks next finishes that.
    var replacement: String { file + ".cut" }
    /// The same while it is made.
    var unfinishedReplacement: String { file + ".cut-new" }
    /// What a replacement has replaced.
    var damaged: JournalPaths { JournalPaths(file + ".damaged") }
    var snapshots: String { file + ".snapshots" }
}
