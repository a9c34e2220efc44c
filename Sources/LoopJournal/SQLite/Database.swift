// Unsafe: the connection and its counter of pages are freed once, in `deinit`. SQLite keeps no other pointer of a call.

internal import CSQLite
internal import Glibc
internal import Linux
internal import LoopCore

/// A connection to a SQLite database. It belongs to one thread, and is closed when it goes out of scope.
///
/// Closing keeps the write-ahead log, unless ``removesLogAtClose()`` was called.
///
/// The file is not trusted. Its triggers, views and functions do not run, its pages are checked as they are read, and no value in
/// it is longer than ``valueBytesMax``.
@safe package struct Database: ~Copyable {
    /// The ways to open a database.
    package enum Access: Equatable, Sendable {
        /// Read and write. The file is created if it does not exist.
        case create
        /// Read and write an existing file.
        case write
        /// Only read, while other connections may write.
        case read
        /// Only read, on the promise that no process writes. It needs no other file next to the database.
        case readUnchanging
    }

    /// How much of the write-ahead log a checkpoint moves into the file.
    package enum Checkpoint: Sendable {
        /// As far as possible without waiting for other connections.
        case passive
        /// The whole log, which is then cut to length 0. Waits for readers up to the busy limit.
        case truncate
    }

    /// The longest text, blob or row, in bytes. A longer one is an error of the kind `tooLarge`.
    package static let valueBytesMax = 512 << 20

    let raw: OpaquePointer
    private let pages: UnsafeMutablePointer<Int32>

    /// Opens the file. A symbolic link with that name is not followed, but links among the folders above it are.
    ///
    /// Only this user may read and write a file that is created, whatever the umask of the process. The files that SQLite creates
    /// next to a database get the permissions of the database.
    /// - Parameters:
    ///   - path: a path of the file system, never a URI.
    ///   - access: whether to read, write or create the file.
    ///   - system: the name of the file system layer, or nil for the standard one. For tests.
    /// - Throws: ``SQLiteError`` if the file cannot be opened or created. SQLite reads it with the first statement, so it detects
    ///   only then that a file is not a database.
    package init(_ path: String, _ access: Access, system: String? = nil) throws(SQLiteError) {
        let file = Self.withoutLinks(path)
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        switch access {
        case .create:
            flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            Self.makeFile(file)
        case .write: flags |= SQLITE_OPEN_READWRITE
        case .read, .readUnchanging: flags |= SQLITE_OPEN_READONLY
        }
        // The path is always passed as a URI, so that no byte of it is taken for a parameter.
        flags |= SQLITE_OPEN_URI
        let name = Self.uri(file) + (access == .readUnchanging ? "?immutable=1" : "")
        var opened: OpaquePointer?
        let result = unsafe sqlite3_open_v2(name, &opened, flags, system)
        guard result == SQLITE_OK, let opened = unsafe opened else {
            let error = SQLiteError(
                "open \(path)", code: result, systemCode: unsafe opened.map { unsafe sqlite3_system_errno($0) } ?? 0,
                text: unsafe opened.map { unsafe String(cString: sqlite3_errmsg($0)) })
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        let defence = unsafe loop_sqlite_defend(opened, Int32(Self.valueBytesMax))
        guard defence == SQLITE_OK else {
            unsafe sqlite3_close_v2(opened)
            throw SQLiteError("open \(path)", code: defence)
        }
        unsafe raw = opened
        unsafe loop_sqlite_keep_log(raw, 1)
        unsafe pages = .allocate(capacity: 1)
        unsafe pages.initialize(to: 0)
        unsafe loop_sqlite_watch_log(raw, pages)
    }

    deinit {
        unsafe loop_sqlite_watch_log(raw, nil)
        unsafe sqlite3_close_v2(raw)
        unsafe pages.deallocate()
    }

    /// The number of pages in the write-ahead log after the last transaction in which this connection wrote. Only
    /// ``checkpoint(_:)`` moves them into the file.
    package var logPages: Int { unsafe Int(pages.pointee) }

    /// Sets the busy limit: how long a statement waits for another connection before it fails as `busy`.
    /// - Parameter milliseconds: the limit; 0, the initial value, does not wait.
    package borrowing func waitForOthers(milliseconds: Int32) { unsafe sqlite3_busy_timeout(raw, milliseconds) }

    /// Runs one or more statements, and drops their rows.
    /// - Throws: ``SQLiteError`` if a statement fails. The statements before it keep their effect.
    package borrowing func execute(_ sql: String) throws(SQLiteError) {
        let result = unsafe sqlite3_exec(raw, sql, nil, nil, nil)
        if result != SQLITE_OK { throw failure(result, "run \(sql)") }
    }

    /// Runs `body` as one transaction, which is committed as a whole or not at all.
    /// - Throws: what `body` throws, and ``SQLiteError`` if the transaction cannot begin or be committed. Nothing is changed then.
    package borrowing func transaction(
        _ body: () throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            try body()
            try execute("COMMIT")
        } catch {
            // After some errors the transaction is rolled back already, and this has no effect.
            unsafe sqlite3_exec(raw, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    /// The first column of the first row as a number, or nil if there is no row or the value is NULL.
    /// - Throws: ``SQLiteError`` if the statement fails.
    package borrowing func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        var statement = try Statement(sql, in: self)
        guard try statement.step() else { return nil }
        return statement.optionalInteger(0)
    }

    /// The first column of the first row as text, or nil if there is no row or the value is NULL.
    /// - Throws: ``SQLiteError`` if the statement fails.
    package borrowing func text(_ sql: String) throws(SQLiteError) -> String? {
        var statement = try Statement(sql, in: self)
        guard try statement.step() else { return nil }
        return statement.text(0)
    }

    /// Moves the write-ahead log into the file.
    /// - Returns: whether the whole log is in the file now. It is false also if another connection is in the way, which is no
    ///   error.
    /// - Throws: ``SQLiteError`` if reading, writing or syncing fails.
    package borrowing func checkpoint(_ checkpoint: Checkpoint) throws(SQLiteError) -> Bool {
        let mode =
            switch checkpoint {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        var frames: Int32 = 0
        var done: Int32 = 0
        let result = unsafe sqlite3_wal_checkpoint_v2(raw, nil, mode, &frames, &done)
        if result & 0xff == SQLITE_BUSY { return false }
        guard result == SQLITE_OK else { throw failure(result, "bring the log into the file") }
        return frames == done
    }

    /// Whether the name under which the file was opened now leads to another file, or to none.
    /// - Throws: ``SQLiteError`` if the file system layer cannot say so.
    package borrowing func hasMoved() throws(SQLiteError) -> Bool {
        var moved: Int32 = 0
        let result = unsafe sqlite3_file_control(raw, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        guard result == SQLITE_OK else { throw failure(result, "look at the file") }
        return moved != 0
    }

    /// Makes the close move the log into the file and remove it, if this is the last connection and the checkpoint succeeds.
    package borrowing func removesLogAtClose() { unsafe loop_sqlite_keep_log(raw, 0) }

    /// Whether a file begins like a SQLite database. An empty file and one that begins with zeros count too, because a new database
    /// may look so.
    ///
    /// Use it before the file is opened, and do not open the file by other means. If a process closes any descriptor of a file, it
    /// releases the locks that its connections have on that file.
    /// - Throws: ``SQLiteError`` if the file cannot be opened or read.
    package static func isDatabase(_ path: String) throws(SQLiteError) -> Bool {
        let magic = Array("SQLite format 3\0".utf8)
        var beginning = [UInt8](repeating: 0, count: magic.count)
        let count = unsafe loop_sqlite_beginning(path, &beginning, Int32(beginning.count))
        if count < 0 { throw SQLiteError("read \(path)", code: -count, systemCode: errno) }
        // A loss of power may leave zeros of a new database. Its rollback journal has the rest.
        return beginning == magic || beginning.allSatisfy { $0 == 0 }
    }

    borrowing func failure(_ code: Int32, _ operation: String) -> SQLiteError {
        unsafe Self.failure(raw, code, operation)
    }

    static func failure(_ raw: OpaquePointer, _ code: Int32, _ operation: String) -> SQLiteError {
        let primary = code & 0xff
        let isOfTheSystem = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL
        return unsafe SQLiteError(
            operation, code: code, systemCode: isOfTheSystem ? sqlite3_system_errno(raw) : 0,
            text: String(cString: sqlite3_errmsg(raw)))
    }

    /// Creates an empty file for this user alone if there is none, because SQLite would create one for all users. If this fails,
    /// SQLite's call fails too.
    private static func makeFile(_ path: String) {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        // The umask may have removed permissions that the owner needs.
        fchmod(file, 0o600)
        close(file)
    }

    /// The path with the links of its folder resolved, because SQLite refuses a path that has a link anywhere.
    private static func withoutLinks(_ path: String) -> String {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard let resolved = unsafe realpath(folder, nil) else { return path }
        defer { unsafe free(resolved) }
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        let found = unsafe String(cString: resolved)
        return (found == "/" ? "" : found) + "/" + name
    }

    /// The path as a `file:` URI. Everything but letters, digits and a few marks is escaped.
    private static func uri(_ path: String) -> String {
        // An absolute path follows an empty authority, however many slashes it begins with.
        (path.hasPrefix("/") ? "file://" : "file:")
            + PercentEncoding.encode(path.utf8) { PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }
    }
}
