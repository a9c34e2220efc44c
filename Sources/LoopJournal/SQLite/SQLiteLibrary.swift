// Unsafe: SQLite uses what it is passed only during the call.

internal import CSQLite
internal import Glibc

/// The SQLite library that this process uses.
public enum SQLiteLibrary {
    /// The version of the library, such as `3.45.1`.
    public static var version: String { unsafe String(cString: sqlite3_libversion()) }

    /// Whether a file begins like a SQLite database. An empty file and one that begins with zeros count too, because a new database
    /// may look so.
    ///
    /// Use it before the file is opened, and do not open the file by other means. If a process closes any descriptor of a file, it
    /// releases the locks that its connections have on that file.
    /// - Throws: ``SQLiteError`` if the file cannot be opened or read.
    public static func isDatabase(_ path: String) throws(SQLiteError) -> Bool {
        let magic = Array("SQLite format 3\0".utf8)
        var beginning = [UInt8](repeating: 0, count: magic.count)
        let count = unsafe loop_sqlite_beginning(path, &beginning, Int32(beginning.count))
        if count < 0 { throw SQLiteError("read \(path)", code: -count, systemCode: errno) }
        // A loss of power may leave zeros of a new database. Its rollback journal has the rest.
        return beginning == magic || beginning.allSatisfy { $0 == 0 }
    }
}
