internal import CSQLite
internal import Glibc

/// What SQLite refused: what was being done, its extended result code, and the system's code behind it.
public struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a result code comes down to.
    public enum Kind: Equatable, Sendable {
        /// No room: on the disk, or within a quota.
        case full
        /// The file, its folder or its file system does not let itself be written or opened.
        case denied
        /// Reading, writing or syncing failed.
        case disk
        /// Another connection is in the way.
        case busy
        /// The file's pages contradict each other.
        case corrupt
        /// The file is no SQLite database.
        case notADatabase
        /// Anything else: a mistake of the caller's, or no memory.
        case other
    }

    /// What was being done, to follow "could not": `open loop.journal`.
    public let operation: String
    /// SQLite's extended result code.
    public let code: Int32
    /// The `errno` of the system call that failed last, or 0.
    public let systemCode: Int32
    /// SQLite's own words.
    public let text: String

    public init(_ operation: String, code: Int32, systemCode: Int32 = 0, text: String? = nil) {
        self.operation = operation
        self.code = code
        self.systemCode = systemCode
        self.text = text ?? String(cString: sqlite3_errstr(code))
    }

    public var kind: Kind {
        switch code & 0xff {
        case SQLITE_FULL: return .full
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: return .denied
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: return .busy
        case SQLITE_CORRUPT: return .corrupt
        case SQLITE_NOTADB, SQLITE_FORMAT: return .notADatabase
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            // The result code says which call failed; the system says why.
            switch systemCode {
            case ENOSPC, EDQUOT: return .full
            case EROFS, EACCES, EPERM: return .denied
            default: return code & 0xff == SQLITE_CANTOPEN ? .denied : .disk
            }
        default: return .other
        }
    }

    /// One line: `could not append: disk I/O error (1034: Input/output error)`.
    public var description: String { "could not \(operation): \(reason)" }

    /// The line without the operation.
    public var reason: String {
        guard systemCode != 0, let system = strerror(systemCode) else { return "\(text) (SQLite \(code))" }
        return "\(text) (SQLite \(code); \(String(cString: system)))"
    }
}
