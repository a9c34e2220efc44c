/// The files of one journal, all beside each other.
struct JournalPaths: Sendable {
    let file: String

    init(_ file: String) { self.file = file }

    /// SQLite's write-ahead log: the newest batches are here.
    var log: String { file + "-wal" }
    /// SQLite's index of the log, shared by the processes that have the journal open.
    var index: String { file + "-shm" }
    /// Locked by the process that may write.
    var lock: String { file + "-lock" }
    var snapshots: String { file + ".snapshots" }
}
