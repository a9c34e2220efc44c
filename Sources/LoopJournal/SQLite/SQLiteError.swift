// Unsafe: texts of constant lifetime, copied at once.

internal import CSQLite
internal import Glibc

/// An error of SQLite: the operation, the extended result code, and the system's code if a system call failed.
package struct SQLiteError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors that a caller can distinguish.
    package enum Kind: Equatable, Sendable {
        /// The disk or a quota is full.
        case full
        /// The file, its folder or its file system does not permit writing or opening.
        case denied
        /// Reading, writing or syncing failed.
        case disk
        /// Another connection holds a lock.
        case busy
        /// The pages of the file contradict each other.
        case corrupt
        /// The file is not a SQLite database.
        case notADatabase
        /// A value, or a row, has more than ``Database/valueBytesMax`` bytes.
        case tooLarge
        /// Any other error: misuse by the caller, or no memory.
        case other
    }

    /// The operation, as text that follows "could not": `open loop.journal`.
    package let operation: String
    /// SQLite's extended result code.
    package let code: Int32
    /// The `errno` of the system call that failed last, or 0.
    package let systemCode: Int32
    /// SQLite's message.
    package let text: String

    /// Creates an error of a call.
    /// - Parameters:
    ///   - operation: the operation that failed, as text that follows "could not".
    ///   - code: SQLite's extended result code.
    ///   - systemCode: the `errno` of the system call that failed, or 0.
    ///   - text: SQLite's message, or nil for the standard text of the code.
    package init(_ operation: String, code: Int32, systemCode: Int32 = 0, text: String? = nil) {
        self.operation = operation
        self.code = code
        self.systemCode = systemCode
        self.text = unsafe text ?? String(cString: sqlite3_errstr(code))
    }

    /// The kind of the error, by the result code and, for failed system calls, by `systemCode`.
    package var kind: Kind {
        switch code & 0xff {
        case SQLITE_FULL: return .full
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: return .denied
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: return .busy
        case SQLITE_CORRUPT: return .corrupt
        case SQLITE_NOTADB, SQLITE_FORMAT: return .notADatabase
        case SQLITE_TOOBIG: return .tooLarge
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
    package var description: String { "could not \(operation): \(reason)" }

    /// The line without the operation.
    package var reason: String {
        guard systemCode != 0, let system = unsafe strerror(systemCode) else { return "\(text) (SQLite \(code))" }
        return unsafe "\(text) (SQLite \(code); \(String(cString: system)))"
    }
}
