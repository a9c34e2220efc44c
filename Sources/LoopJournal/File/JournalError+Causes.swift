internal import Glibc
internal import Linux
package import LoopCluster

extension JournalError.Kind {
    /// What a person can do about it, unless a better remedy is known.
    var remedy: String {
        switch self {
        case .full: "make room on the disk"
        case .readOnly: "make the file and its folder writable, or choose another: --journal FILE"
        case .failedDisk: "look after the disk (dmesg)"
        case .locked: "stop the other process; a reducer with --wait waits for its end"
        case .busy: "end the transaction of the other program (sqlite3, a backup)"
        case .moved: "put it back under its name: it is opened again as soon as it is there"
        case .unreachable: "look after the database: the journal is read again as soon as it answers"
        case .corrupt: "put a copy of the file back, or cut off what is damaged: trim --after SEQ"
        case .trimmed: "begin with what is there: the oldest snapshot"
        case .foreign: "choose another file: --journal FILE"
        case .misuse: "this is a mistake in the program"
        }
    }
}

/// An error of the system or of SQLite, which is the cause of a journal's error.
protocol JournalCause: Error {
    /// The error of the journal's operation that it has ended.
    func ending(_ operation: String) -> JournalError
}

extension SystemError: JournalCause {
    func ending(_ operation: String) -> JournalError { .system(operation, code) }
}

extension OpeningError: JournalCause {
    func ending(_ operation: String) -> JournalError { .opening(operation, self) }
}

extension SQLiteError: JournalCause {
    func ending(_ operation: String) -> JournalError { .sqlite(operation, self) }
}

extension JournalError {
    /// An error with the usual remedy of its kind.
    package init(_ kind: Kind, _ operation: String, _ reason: String) {
        self.init(kind, operation: operation, reason: reason, remedy: kind.remedy)
    }

    /// The error of a system call that failed.
    static func system(_ operation: String, _ code: Int32) -> JournalError {
        let kind: Kind =
            switch code {
            case ENOSPC, EDQUOT: .full
            case EROFS, EACCES, EPERM, ENOENT, ENOTDIR, EISDIR: .readOnly
            default: .failedDisk
            }
        let remedy =
            code == ENOENT || code == ENOTDIR
            ? "make the folder, or choose another file: --journal FILE" : kind.remedy
        return JournalError(kind, operation: operation, reason: SystemError(operation, code: code).text, remedy: remedy)
    }

    /// The error of a file that could not be opened, or must not be used.
    static func opening(_ operation: String, _ error: OpeningError) -> JournalError {
        switch error {
        case .system(let error): .system(operation, error.code)
        case .flaw(let flaw, let path):
            JournalError(
                .foreign, operation: operation, reason: "\(path) \(flaw.text)", remedy: flaw.remedy(path))
        }
    }

    /// The error of a call of SQLite that failed.
    static func sqlite(_ operation: String, _ error: SQLiteError) -> JournalError {
        let kind: Kind =
            switch error.kind {
            case .full: .full
            case .denied: .readOnly
            case .disk, .other: .failedDisk
            case .busy: .busy
            case .corrupt, .tooLarge: .corrupt
            case .notADatabase: .foreign
            }
        let remedy =
            error.kind == .tooLarge
            ? "a row has at most \(Database.valueBytesMax >> 20) MiB: make the initial state or the events smaller, or put a "
                + "copy of the file back"
            : kind.remedy
        return JournalError(kind, operation: operation, reason: error.reason, remedy: remedy)
    }
}

/// Runs `body`. If the system or SQLite refuses something there, the error names the operation.
func naming<Result: ~Copyable, Cause: JournalCause>(
    _ operation: String, _ body: () throws(Cause) -> Result
) throws(JournalError) -> Result {
    do throws(Cause) {
        return try body()
    } catch {
        throw error.ending(operation)
    }
}
