internal import CSQLite
internal import Glibc

/// The library that this process runs with.
public enum SQLiteLibrary {
    public static var version: String { String(cString: sqlite3_libversion()) }

    /// Whether a file begins as a database does, or is empty or not yet written, as one that is being made.
    ///
    /// To be asked here and not by opening the file: a process that closes any descriptor of a file drops the locks that
    /// its connections have on it.
    public static func isDatabase(_ path: String) throws(SQLiteError) -> Bool {
        let magic = Array("SQLite format 3\0".utf8)
        var beginning = [UInt8](repeating: 0, count: magic.count)
        let count = loop_sqlite_beginning(path, &beginning, Int32(beginning.count))
        if count < 0 { throw SQLiteError("read \(path)", code: -count, systemCode: errno) }
        // Zeros are what a loss of power may leave of one that was being made; its rollback journal has the rest.
        return beginning == magic || beginning.allSatisfy { $0 == 0 }
    }
}
