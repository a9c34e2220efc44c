public import LoopCluster
internal import Linux
internal import LoopCore
public import LoopWire
internal import SQLite

/// What an opening found out; a journal is made of it.
struct Opened: ~Copyable {
    var path: String
    var loop: String
    var history: History
    var durability: Durability
    var hasEnded: Bool
    var isReadOnly: Bool
    var file: JournalFile
    var folder: SnapshotFolder
    var checkpointPages: Int
    var base: ChainLink
    var tail: ChainLink
    var report: [String]
    var lock: OwnerLock?
}

extension SQLiteJournal {
    /// Opens a journal for writing, or makes a new one.
    ///
    /// All acknowledged records are there, or the opening fails. The end of a batch that was never acknowledged is
    /// cut off and reported in ``openReport``.
    /// - Parameters:
    ///   - path: the file. The names of its other files, in the same folder, are this name and an ending.
    ///   - loop: the name of the loop. A journal of another one is refused.
    ///   - durability: the guarantee of a receipt.
    ///   - newHistory: a random history, used only if a new journal is made.
    ///   - address: where peers find this process; told to those that wait for the journal.
    ///   - whileLocked: called about 20 times a second while another process has the journal, with the error that
    ///     would be thrown; returns whether to continue waiting. Nil does not wait.
    /// - Throws: `JournalError` of kind `.locked` if another process has the journal and `whileLocked` is nil or
    ///   returns false; `.foreign` if the file is another loop's, of another version or no journal, or if other users
    ///   may change it; `.corrupt` if acknowledged records are missing or damaged; else if the system refuses the files.
    public static func open(
        _ path: String, loop: String, durability: Durability = .fsync, newHistory: History, address: String? = nil,
        whileLocked: ((JournalError) -> Bool)? = nil
    ) throws(JournalError) -> SQLiteJournal {
        try open(
            path, loop: loop, durability: durability, newHistory: newHistory, address: address,
            whileLocked: whileLocked, layer: FileLayer())
    }

    /// Where peers find the process that has the journal of this path, while one has it; nil: it does not say.
    public static func ownerAddress(of path: String) -> String? { OwnerLock.address(in: JournalPaths(path).lock) }

    /// Whether this process was the last one that had the journal of this path, as a reducer of this address.
    package static func wasThisProcessLast(at path: String, address: String?) -> Bool {
        OwnerLock.isMarked(JournalPaths(path).lock, address: address)
    }

    package static func open(
        _ path: String, loop: String, durability: Durability, newHistory: History, address: String? = nil,
        whileLocked: ((JournalError) -> Bool)?, layer: FileLayer, opensMoved: Bool = false
    ) throws(JournalError) -> SQLiteJournal {
        let paths = JournalPaths(path)
        let disk = layer.disk
        try checkFiles(paths)
        try refuseOtherFiles(paths)
        let lock = try OwnerLock(paths.lock, address: address, whileLocked: whileLocked)
        var report: [String] = []
        try finishCut(paths, disk, report: &report)
        // Who had the lock may have changed them.
        let files = try checkFiles(paths)
        let existed = files.exist
        let log = LogInspection(try disk.rewrite(paths.log))
        let file = try JournalFile(path, .create, system: layer.sqlite)
        let isNew = try file.isEmpty()
        try file.checkIsOne(of: files)
        if let warning = DatabaseFiles.warning(of: path) { report.append(warning) }
        if !isNew {
            try file.check(path, loop: loop)
            if !opensMoved { try file.checkNotMoved(path) }
        }
        try file.prepare(isNew: isNew, layer, durability: durability)
        if isNew { try file.create(loop: loop, history: newHistory) }
        let base = try file.base()
        let tail = try file.checkedTail(after: base, loop: loop, path: path, report: &report)
        if existed { try file.judge(log, tail, loop: loop, path: path, report: &report) }
        try file.begin(durability, tail)
        if !existed { try disk.syncFolder(Disk.folder(of: path)) }
        let folder = SnapshotFolder(path: paths.snapshots, disk: disk)
        for name in try folder.removeOthers(than: file.snapshots()) {
            report.append("removed \(paths.snapshots)/\(name): a snapshot that was not finished")
        }
        return SQLiteJournal(
            Opened(
                path: path, loop: loop, history: try file.history(), durability: durability,
                hasEnded: try file.meta("ended") == 1, isReadOnly: false, file: file, folder: folder,
                checkpointPages: layer.checkpointPages, base: base,
                tail: tail, report: report, lock: lock))
    }

    /// Opens a journal for reading, also while a reducer writes it. Each read sees what was appended meanwhile.
    /// - Throws: `JournalError` of kind `.readOnly` if there is no file; `.foreign` if it is no journal or of
    ///   another version; `.corrupt` if a cut was interrupted or the journal's name is damaged; else if the system
    ///   refuses the files.
    public static func read(_ path: String) throws(JournalError) -> SQLiteJournal {
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
            throw JournalError(
                .corrupt, operation: "be read", reason: "a trim of it was interrupted",
                remedy: "start the loop's reducer, or trim it again: that finishes it")
        }
        let log = OwnerLock.isFree(paths.lock) ? LogInspection(try disk.read(paths.log) ?? []) : nil
        let file = try JournalFile.forReading(paths)
        try file.checkIsOne(of: files)
        try file.checkVersion(path)
        let loop = try file.metaText("loop") ?? ""
        try file.checkIdentity(path, loop: loop)
        let base = try file.base()
        let tail = try file.tail(after: base)
        var report = DatabaseFiles.warning(of: path).map { [$0] } ?? []
        do throws(JournalError) {
            if let log { try file.judge(log, tail, loop: loop, path: path, report: &report) }
        } catch {
            // Who only looks may look at what is there.
            report.append("\(error)")
        }
        return SQLiteJournal(
            Opened(
                path: path, loop: loop, history: try file.history(), durability: .fsync,
                hasEnded: try file.meta("ended") == 1, isReadOnly: true, file: file,
                folder: SnapshotFolder(path: paths.snapshots, disk: disk), checkpointPages: .max, base: base,
                tail: tail, report: report, lock: nil))
    }

    /// Refuses files that others may change, and names that lead elsewhere, before anything is changed.
    @discardableResult
    static func checkFiles(_ paths: JournalPaths) throws(JournalError) -> DatabaseFiles {
        try naming("be opened") { () throws(OpeningError) in
            let files = try DatabaseFiles(paths.file, for: .writing)
            if let flaw = FileSystem.status(ofName: paths.snapshots)?.flawOfFolder() {
                throw .flaw(flaw, paths.snapshots)
            }
            return files
        }
    }

    /// A file that is no database at all is refused before anything is made next to it.
    private static func refuseOtherFiles(_ paths: JournalPaths) throws(JournalError) {
        guard Disk().exists(paths.file) else { return }
        let isDatabase = try naming("be opened") { () throws(SQLiteError) in try SQLiteLibrary.isDatabase(paths.file) }
        guard isDatabase else {
            throw JournalError(
                .foreign, operation: "be opened", reason: "\(paths.file) is no journal",
                remedy: JournalError.Kind.foreign.remedy)
        }
    }
}

/// What is under a journal: the system's own calls, but for tests that record or break them.
package struct FileLayer: Sendable {
    /// The name of SQLite's file system layer; nil is the standard one.
    package var sqlite: String?
    package var disk = Disk()
    /// The size of the pages of a new file, in bytes.
    package var pageBytes = 8192
    /// How many pages the log has before they are brought into the file.
    package var checkpointPages = 500

    package init() {}
}

extension JournalFile {
    static func forReading(_ paths: JournalPaths) throws(JournalError) -> JournalFile {
        do throws(JournalError) {
            let file = try JournalFile(paths.file, .read, system: nil)
            _ = try file.number("SELECT count(*) FROM sqlite_schema")
            return file
        } catch {
            // Where no index of the log can be made there is nobody who writes, and with no log there is nothing to miss.
            guard error.kind == .readOnly, try (Disk().read(paths.log, atMost: 1) ?? []).isEmpty else { throw error }
            return try JournalFile(paths.file, .readUnchanging, system: nil)
        }
    }

    /// Refuses what is not this loop's journal. Changes nothing.
    func check(_ path: String, loop: String) throws(JournalError) {
        try checkVersion(path)
        let owner = try metaText("loop") ?? ""
        guard owner == loop else {
            throw JournalError(
                .foreign, operation: "be opened", reason: "\(path) is the journal of the loop \(owner), not of \(loop)",
                remedy: JournalError.Kind.foreign.remedy)
        }
        try checkIdentity(path, loop: loop)
    }

    /// Refuses a journal whose name or history is not what was written.
    func checkIdentity(_ path: String, loop: String) throws(JournalError) {
        let identity = Self.identity(loop, try history())
        guard try meta("identity") == identity else {
            throw JournalError(
                .corrupt, operation: "be opened", reason: "the name or the history in \(path) is not what was written",
                remedy: "put back a copy of \(path)")
        }
    }

    /// What SQLite drops from the log is said; and what it must not drop stops the start.
    func judge(
        _ log: LogInspection, _ tail: ChainLink, loop: String, path: String, report: inout [String]
    ) throws(JournalError) {
        let known = UInt64(bitPattern: try meta("position") ?? 0)
        guard tail.position >= known else {
            throw .damaged(
                loop: loop, path: path, position: tail.position + 1, seq: tail.seq + 1,
                "the records up to \(known) were there and are not")
        }
        let wasSynced = try meta("durability") == Self.number(.fsync)
        switch log.finding {
        case .whole: break
        case .broken where wasSynced:
            throw .damaged(
                loop: loop, path: path, position: tail.position + 1, seq: tail.seq + 1,
                "\(path)-wal cannot be read from there on, and what follows was acknowledged")
        case .torn(let pages):
            report.append(
                "cut off \(pages) pages behind record \(tail.position), seq \(tail.seq): a batch that was not completed"
            )
        case .broken:
            report.append(
                "cut off everything behind record \(tail.position), seq \(tail.seq), where \(path)-wal cannot be read: "
                    + "it was not synced")
        }
    }

    /// Brings the log that an earlier process left into the file and to the disk, also what a failed sync may have
    /// left in memory only. The next batch then starts the log again, away from the remains of a torn one.
    func begin(_ durability: Durability, _ tail: ChainLink) throws(JournalError) {
        let number = Self.number(durability)
        let position = Int64(bitPattern: tail.position)
        let notedDurability = try meta("durability")
        let isNoted = try meta("position") == position && notedDurability == number
        try naming("be brought up to date") { () throws(SQLiteError) in
            try restartLog()
            if isNoted { return }
            try transaction { () throws(SQLiteError) in
                try set("durability", number)
                try set("position", position)
            }
            try restartLog()
        }
    }

    private func restartLog() throws(SQLiteError) {
        guard try checkpoint(.restart) else {
            throw SQLiteError("bring the log into the file", code: 5, text: "a tool keeps reading the journal")
        }
    }

    private static func number(_ durability: Durability) -> Int64 {
        switch durability {
        case .fsync: 1
        case .os: 2
        case .none: 3
        }
    }

    func history() throws(JournalError) -> History {
        History(UInt64(bitPattern: try meta("history") ?? 0))
    }

    /// Where the rows begin.
    func base() throws(JournalError) -> ChainLink {
        guard let position = try meta("trimmed_position") else { return .start }
        let seq = try meta("trimmed_seq") ?? 0
        let checksum = try meta("trimmed_checksum") ?? 0
        guard let link = ChainLink(trimmedTo: position, seq: seq, checksum: checksum) else {
            throw JournalError(
                .corrupt, operation: "be read",
                reason: "it says that it was trimmed up to position \(position), seq \(seq), which cannot be",
                remedy: "put back a copy of it")
        }
        return link
    }

    /// The end of the newest row, by its numbers. If these are impossible, its place: a reader that comes to it gets
    /// the error.
    func tail(after base: ChainLink) throws(JournalError) -> ChainLink {
        guard let newest = try rows(through: .max, max: 1).first else { return base }
        try checkTrimmed(base, newest)
        if let newest { return newest.link }
        let place = UInt64(clamping: try number("SELECT max(first_position) FROM batches") ?? 0)
        var end = base
        end.position = max(base.position + 1, min(place, BatchRow.numbersMax - 1))
        return end
    }

    /// Refuses a journal whose rows end before they begin.
    func checkTrimmed(_ base: ChainLink, _ newest: BatchRow?) throws(JournalError) {
        guard let newest, newest.lastPosition <= base.position else { return }
        throw JournalError(
            .corrupt, operation: "be read",
            reason: "it says that it was trimmed up to position \(base.position), and ends at \(newest.lastPosition)",
            remedy: "put back a copy of it")
    }
}
