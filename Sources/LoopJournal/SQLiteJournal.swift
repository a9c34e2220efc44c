package import LoopCluster
package import LoopCore
internal import LoopCollections
package import LoopWire

/// A journal in a file. Each append is one row of a SQLite database, checksummed and tied to the row before. Snapshots are separate
/// files. `docs/spec/2-JOURNAL.md` specifies the layout and the rules of recovery.
///
///     append ──▶ one row ──▶ write-ahead log ──▶ sync ──▶ receipt
///                                 └──▶ the file, from time to time
///
/// It belongs to one thread. One process at a time may write; others may read meanwhile.
package final class SQLiteJournal: RowJournal {
    /// The path of the file, as passed to the opening.
    package let path: String
    /// The name of the loop that it belongs to.
    package let loop: String
    /// The first history of the journal, which was made with it. A later one is in a record.
    package let history: History
    /// The guarantee of a receipt. It has no meaning if the journal was opened for reading.
    package let durability: Durability
    /// One line for each finding or repair of the opening that a person should know of. Empty if there was none.
    package let openReport: [String]
    /// Whether the loop has ended and its outcome was reported.
    package internal(set) var hasEnded: Bool

    /// The database, or nil once the journal was closed.
    private var file: JournalFile?
    // What an opening for writing holds and writes besides.
    var lock: OwnerLock?
    var fileLock: FileLock?
    var endNote: EndNote?
    var names = OpenNames([])
    /// The error with which a reducer would refuse to open the journal. Nil if a reducer would open it, or has it open, or if it
    /// was not opened for reading.
    package let startRefusal: JournalError?
    package let isReadOnly: Bool
    let folder: SnapshotFolder
    private let checkpointPages: Int
    /// Nil if every row is synced, or if nothing is written.
    private var logWriteOut: LogWriteOut?
    /// Reads the rows, and knows their first and last positions.
    package var reader: RowReader

    /// Snapshots without a row, whose files can be removed once the log was synced. The next opening removes those that remain at
    /// the end.
    var superseded: [SnapshotEntry] = []
    /// The superseded snapshots whose files may be removed. The thread that writes snapshots uses it too.
    let unlisted = Locked([SnapshotEntry]())

    /// The error after which no append can be trusted any more.
    private var failure: JournalError?

    /// - Parameters:
    ///   - reader: the reader of the file's rows.
    ///   - durability: the guarantee of a receipt, or nil to only read.
    init(
        _ file: JournalFile, _ reader: RowReader, folder: SnapshotFolder, durability: Durability?,
        checkpointPages: Int = .max, report: [String], startRefusal: JournalError? = nil
    ) throws(JournalError) {
        (path, loop, history) = (reader.place, reader.loop, try file.history())
        hasEnded = try file.meta("ended") == 1
        (self.file, self.reader, self.folder) = (file, reader, folder)
        self.durability = durability ?? .fsync
        isReadOnly = durability == nil
        self.checkpointPages = checkpointPages
        openReport = report
        self.startRefusal = startRefusal
        if let durability, durability != .fsync { logWriteOut = LogWriteOut(JournalPaths(path).log) }
    }

    /// Whether a reader has kept the last checkpoint from moving the whole log into the file.
    private var isLogHeld = false

    /// The size of the write-ahead log in bytes while a reader keeps it from starting over, or nil while none does.
    package var heldLogBytes: Int? { isLogHeld ? file.flatMap { try? $0.logBytes } : nil }

    /// The position of the newest record, or 0 before the first.
    package var position: UInt64 { reader.tail.position }

    // MARK: Appending

    /// Encodes the records of a turn and appends them, like the method that takes a `RecordLog`.
    /// - Throws: `JournalError` as that method does.
    package func append(_ records: [Record], through position: UInt64) throws(JournalError) -> JournalReceipt {
        try append(RecordLog(records), through: position)
    }

    /// Appends the records of a turn as one row.
    /// - Parameters:
    ///   - records: the records, in order; may be empty. Their events continue the journal's seqs without a gap.
    ///   - position: the position of the last of them.
    /// - Returns: the proof, once the records are as durable as ``durability`` says. Records that assign numbers for good are
    ///   synced with every durability.
    /// - Throws: `JournalError` of kind `.misuse` if positions or seqs do not follow, or if the journal was closed or opened for
    ///   reading. Another kind if writing or syncing fails. After an error in writing nothing more can be appended.
    package func append(_ records: RecordLog, through position: UInt64) throws(JournalError) -> JournalReceipt {
        let operation = "append the records through \(position)"
        let file = try writable(operation)
        guard self.position + UInt64(records.count) == position else {
            throw .misuse(operation, "they end at \(self.position + UInt64(records.count))")
        }
        guard !records.isEmpty else { return JournalReceipt(through: position) }
        let lastSeq: UInt64
        do throws(JournalError) {
            lastSeq = try records.newestSeq(after: reader.tail.seq, operation)
        } catch {
            throw poisoned(error)
        }
        // The check comes before the row, because afterwards a log that was cut may be as long as before.
        try checkNames(operation)
        let row = BatchRow(
            after: reader.tail, count: UInt64(records.count), lastSeq: lastSeq, records: records.bytes.span)
        let isSynced = durability != .fsync && records.outlivesPower
        do throws(SQLiteError) {
            if isSynced { try file.setSynchronous(.fsync) }
            try file.insert(row, records.bytes.span)
            if isSynced { try file.setSynchronous(durability) }
        } catch {
            throw poisoned(.sqlite(operation, error))
        }
        try checkNames(operation)
        reader.tail = row.link
        endNote?.write(row.link.position)
        logWriteOut?.log(hasPages: file.database.logPages)
        if file.database.logPages >= checkpointPages { bringLogIntoFile(file) }
        return JournalReceipt(through: position)
    }

    /// Checks the names of the files as ``prove()`` does, and brings the log into the file if a reader was in the way before.
    /// - Throws: `JournalError` of kind `.moved` if a file or its folder was removed, renamed or replaced. Another kind if the
    ///   journal was closed or opened for reading, or if writing has failed before.
    package func flush() throws(JournalError) {
        let operation = "bring its log into the file"
        let file = try writable(operation)
        try checkNames(operation)
        if isLogHeld { bringLogIntoFile(file) }
    }

    /// Checks that the names of the journal's files still lead to the files that it writes.
    /// - Throws: `JournalError` of kind `.moved` if a file or its folder was removed, renamed or replaced.
    package func prove() throws(JournalError) {
        _ = try writable("prove that it leads")
        try checkNames("prove that it leads")
    }

    /// Refuses all appends once a file has lost its name, because the next start would not find it.
    func checkNames(_ operation: String) throws(JournalError) {
        do throws(JournalError) {
            try names.check(operation)
        } catch {
            throw poisoned(error)
        }
    }

    /// Moves the log into the file. What was acknowledged is in the log, so an error here takes nothing back. But nothing more is
    /// written after it.
    private func bringLogIntoFile(_ file: JournalFile) {
        do throws(SQLiteError) {
            isLogHeld = try !file.checkpoint()
        } catch {
            _ = poisoned(.sqlite("bring its log into the file", error))
            return
        }
        // The checkpoint has synced the log.
        unlistSuperseded()
    }

    // MARK: Reading

    /// The seq of the oldest event in the journal, or nil if it has none.
    /// - Throws: `JournalError` if reading fails, or if the journal was closed.
    package func firstSeq() throws(JournalError) -> Seq? {
        let file = try readable("be read")
        return try file.number(
            "SELECT first_seq FROM batches WHERE last_seq >= first_seq ORDER BY first_position LIMIT 1"
        ).map { Seq(UInt64(bitPattern: $0)) }
    }

    /// Finds what the writing process has appended since the last call.
    /// - Returns: false if the name leads to another file.
    @discardableResult package func refresh() throws(JournalError) -> Bool {
        let file = try readable("be read")
        guard isReadOnly else { return true }
        reader.base = try file.base()
        reader.tail = try file.tail(after: reader.base)
        if try file.meta("ended") == 1 { hasEnded = true }
        return try !file.hasMoved()
    }

    // MARK: Ending

    /// Notes that the loop has ended and its outcome was reported, so that the next run begins with a new journal.
    /// - Throws: `JournalError` if writing fails or has failed before, or if the journal was closed or opened for reading.
    package func markEnded() throws(JournalError) {
        let operation = "note that the loop has ended"
        let file = try writable(operation)
        try checkNames(operation)
        try writing(operation) { () throws(SQLiteError) in try file.set("ended", 1) }
        hasEnded = true
    }

    /// Removes the write-ahead log if all went well, and releases the files and the lock. A second call does
    /// nothing. Every other call fails afterwards.
    package func close() {
        guard let file else { return }
        if !isReadOnly, failure == nil {
            try? flush()
            if failure == nil {
                try? file.set("position", Int64(bitPattern: reader.tail.position))
                // One file is easier to copy than two. If the removal fails, the next opening does it.
                file.database.removesLogAtClose()
                folder.removeAll(unlisted)
            }
        }
        abandon()
    }

    /// Releases the files as the end of the process would. Nothing more is written.
    package func abandon() {
        fileLock = nil
        file = nil
        logWriteOut = nil
        endNote = nil
        lock = nil
    }

    deinit { close() }

    // MARK: Access

    /// The file, if it may still be written.
    func writable(_ operation: String) throws(JournalError) -> JournalFile {
        let file = try readable(operation)
        if isReadOnly { throw .misuse(operation, "it was opened for reading") }
        if let failure { throw .afterwards(operation, failure) }
        return file
    }

    /// Runs `body`, which writes. After an error nothing more is written.
    func writing(_ operation: String, _ body: () throws(SQLiteError) -> Void) throws(JournalError) {
        do throws(JournalError) {
            try naming(operation, body)
        } catch {
            throw poisoned(error)
        }
    }

    package func rows(to operation: String) throws(JournalError) -> any BatchRows { try readable(operation) }

    func readable(_ operation: String) throws(JournalError) -> JournalFile {
        guard let file else { throw .misuse(operation, "it was closed") }
        return file
    }

    /// Notes an error in writing, after which nothing more is written. The system's copy of the file may differ from the disk, and
    /// only a new opening brings both together.
    func poisoned(_ error: JournalError) -> JournalError {
        if failure == nil { failure = error }
        return error
    }
}
