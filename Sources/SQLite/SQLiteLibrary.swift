internal import CSQLite

/// The library that this process runs with.
public enum SQLiteLibrary {
    public static var version: String { String(cString: sqlite3_libversion()) }
}
