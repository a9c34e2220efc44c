import Linux
import LoopJournal

/// Why a sender's events cannot be kept in its file, or read from it.
package struct OutboxError: Error, Equatable, CustomStringConvertible {
    /// The problem, the file and the remedy, on one line.
    package let description: String

    init(_ path: String, _ error: SQLiteError) {
        description =
            switch error.kind {
            case .busy: "the outbox \(path) is in use by another process; give each sender a file of its own"
            case .full:
                "the outbox \(path) cannot be written, the disk is full: \(error.reason); make room and start again"
            case .denied:
                "the outbox \(path) cannot be opened or written: \(error.reason); name another by --outbox FILE"
            case .notADatabase: "\(path) is no outbox: \(error.reason); name another by --outbox FILE"
            case .corrupt, .tooLarge: Self.damaged(path, error.reason)
            case .disk, .other: "the outbox \(path) failed: \(error)"
            }
    }

    /// The file cannot be opened, or other users have access to it.
    init(_ error: OpeningError) { description = "the outbox cannot be used: \(error)" }

    /// The file is a database, but its contents are impossible.
    init(damaged path: String, _ why: String) { description = Self.damaged(path, why) }

    /// The file is for another loop.
    init(_ path: String, of loop: String, not other: String) {
        description =
            "the outbox \(path) holds events for the loop \(loop), not for \(other); name another by --outbox FILE"
    }

    private static func damaged(_ path: String, _ why: String) -> String {
        "the outbox \(path) is damaged: \(why); move it away, and what it held is lost"
    }
}
