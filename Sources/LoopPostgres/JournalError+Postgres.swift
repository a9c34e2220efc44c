internal import LoopCluster
internal import PostgreSQL

extension JournalError {
    /// The database refused something, or could not be asked.
    static func postgres(_ operation: String, _ error: PostgresError, at url: ConnectionString) -> JournalError {
        let reason = error.reason
        switch error.kind {
        case .misuse:
            return JournalError(
                .misuse, operation: operation, reason: reason,
                remedy: "give a URL such as postgres://user@host/database")
        case .refused where error.isUndefined:
            return JournalError(
                .foreign, operation: operation, reason: "\(url) has not the tables of journals: \(reason)",
                remedy: "make them: loopctl journal init \(url)")
        case .refused where error.isDenied:
            return JournalError(
                .readOnly, operation: operation, reason: "\(url) refuses: \(reason)",
                remedy:
                    "let the role select, insert, update and delete in the tables loop_…, on a server that can be written"
            )
        case .refused where error.isFull:
            return JournalError(
                .full, operation: operation, reason: "\(url) refuses: \(reason)",
                remedy: "make room on the server's disk")
        case .warned:
            return JournalError(
                .unreachable, operation: operation, reason: "\(url) does not vouch for it: \(reason)", remedy: remedy)
        case .refused, .lost, .late:
            return JournalError(.unreachable, operation: operation, reason: "\(url): \(reason)", remedy: remedy)
        }
    }

    /// The condition of a write did not hold: another process has the journal now, its newest row is not the expected one, or the
    /// server's commits wait for other standbys than they did.
    static func notHeld(_ operation: String, _ url: ConnectionString) -> JournalError {
        JournalError(
            .unreachable, operation: operation,
            reason:
                "\(url) does not know this process as the journal's holder any more, ends elsewhere, or waits for other standbys",
            remedy: "the journal is read again")
    }

    static func notUsable(_ operation: String, _ reason: String) -> JournalError {
        JournalError(.misuse, operation: operation, reason: reason, remedy: "this is a mistake in the program")
    }

    private static var remedy: String { "look after the database: the journal is read again as soon as it answers" }
}
