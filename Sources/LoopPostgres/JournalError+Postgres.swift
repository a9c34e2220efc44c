internal import Linux
internal import LoopCluster
internal import LoopWire

extension JournalError {
    /// The error of a request that the database refused or did not answer.
    /// - Parameter cause: what the statement has waited for, or nil if that is not known.
    static func postgres(
        _ operation: String, _ error: PostgresError, at url: ConnectionString, cause: StatementWait? = nil
    ) -> JournalError {
        let reason =
            error.reason + (error.code == "57P01" ? "; a reducer that takes the journal over ends a connection so" : "")
            + (cause.map { "; it \(error.kind == .late ? "waits" : "waited") for \($0.text)" } ?? "")
        let host = error.host.isEmpty ? nil : error.host
        let fault = JournalFault(
            cause?.reason ?? error.faultReason, sqlState: error.code.isEmpty ? nil : error.code, host: host)
        let (kind, text, remedy): (Kind, String, String) =
            switch fault.reason {
            case .mistake where error.kind == .refused:
                (.misuse, "\(url) refuses: \(reason)", "this is a mistake in the program")
            case .mistake: (.misuse, reason, "give a URL such as postgres://user@host/database")
            case .noTables:
                (
                    .foreign, "\(url) has not the tables of journals: \(reason)",
                    "make them: loopctl journal init \(url.description.shellWord)"
                )
            case .pooler: (.foreign, "\(url) leads to a pooler: \(reason)", "connect to PostgreSQL directly")
            case .denied where error.text.contains("permission denied for database"):
                (.readOnly, "\(url): \(reason)", "let the role connect: GRANT CONNECT ON DATABASE")
            case .denied where error.text.contains("loop_"):
                (
                    .readOnly, "\(url) refuses: \(reason)",
                    "let the role select, insert, update and delete in the tables loop_…"
                )
            case .denied:
                (
                    .readOnly, "\(url) refuses: \(reason)",
                    "let the role do that (GRANT), or leave it out of the options of the URL and of the role"
                )
            case .diskFull: (.full, "\(url) refuses: \(reason)", "make room on the server's disk")
            case .noSyncStandby:
                (
                    .unreachable, "\(url) does not vouch for it: \(reason)",
                    "start a standby that synchronous_standby_names names, or change that setting"
                )
            case .lockWait:
                (.unreachable, "\(url): \(reason)", "end the transaction that has the lock (pg_locks says whose it is)")
            case .readOnlyOnly:
                (.unreachable, "\(url): \(reason)", "promote one of the servers, or name the one that can be written")
            case .auth where error.text.contains("does not exist") || error.text.contains("not permitted to log in"):
                (.unreachable, "\(url): \(reason)", "let the URL name a role that may log in, or make it (CREATE ROLE)")
            case .auth where error.code == "28000":
                (
                    .unreachable, "\(url): \(reason)",
                    "let pg_hba.conf admit this role from here in another way, or name another role; the server's log says more"
                )
            case .auth:
                (
                    .unreachable, "\(url): \(reason)",
                    "give the role's password in PGPASSWORD or in ~/.pgpass (chmod 600)"
                )
            case .pgHBA: (.unreachable, "\(url): \(reason)", "add a line for this role and machine to pg_hba.conf")
            case .tls: (.unreachable, "\(url): \(reason)", "see sslmode and sslrootcert of the URL")
            case .tooManyConnections:
                (
                    .unreachable, "\(url): \(reason)",
                    "end connections that are not needed, or raise the limit: that of the role, of the database, or max_connections"
                )
            case .refused:
                (.unreachable, "\(url) refuses: \(reason)", "look up the SQLSTATE, or see the server's log")
            case .unknownDatabase: (.unreachable, "\(url): \(reason)", "make the database, or name another one")
            default: (.unreachable, "\(url): \(reason)", Self.remedy)
            }
        return JournalError(kind, operation: operation, reason: text, remedy: remedy, fault: fault)
    }

    /// The error of a write whose condition did not hold. Another process has the journal now, its newest row is not the expected
    /// one, or the server's commits wait for other standbys.
    static func notHeld(_ operation: String, _ url: ConnectionString) -> JournalError {
        JournalError(
            .unreachable, operation: operation,
            reason:
                "\(url) does not know this process as the journal's holder any more, ends elsewhere, or waits for other standbys",
            remedy: "the journal is read again", fault: JournalFault(.termLost))
    }

    /// The error that the loop has no journal under that name.
    static func none(of loop: String, _ keptAs: KeptAs, _ operation: String, at url: ConnectionString) -> JournalError {
        JournalError(
            .readOnly, operation: operation, reason: "\(url) has no \(keptAs.rawValue) journal of the loop \(loop)",
            remedy: "give the URL of a database that has one")
    }

    private static var remedy: String {
        "look after the database; a reducer that has led, or has --standby or --wait, tries again"
    }

    /// The error for a process that has led or followed the journal, or waits for it. Missing tables may come, so that error is not
    /// final.
    var ofExpectedJournal: JournalError {
        var error = self
        if fault.reason == .noTables { error.kind = .unreachable }
        return error
    }
}

extension PostgresError {
    /// The reason for programs, by SQLSTATE. libpq's own errors have none, so their texts decide. These are in English,
    /// because this process sets no locale.
    var faultReason: JournalFault.Reason {
        switch code {
        case "28P01": return .auth
        case "28000": return text.contains("pg_hba.conf") ? .pgHBA : .auth
        case "3D000": return .unknownDatabase
        case "53300": return .tooManyConnections
        case "57P03": return .databaseStarting
        case "53100": return .diskFull
        case "58030": return .diskFailed
        case "42501": return .denied
        case "25006": return .readOnlyOnly
        case "42P01", "3F000": return .noTables
        case "55P03": return .lockWait
        default: break
        }
        switch kind {
        case .misuse: return .mistake
        case .warned: return .refused
        case .unconfirmed: return .noSyncStandby
        case .late: return .appendDeadline
        case .refused: return code.hasPrefix("42") ? .mistake : .refused
        // The code of a session that was ended is of class 08 or 57.
        case .lost where !code.isEmpty && !code.hasPrefix("08") && !code.hasPrefix("57"): return .refused
        case .lost: break
        }
        if text.contains("session is read-only") || text.contains("hot standby") { return .readOnlyOnly }
        if text.contains("no password supplied") { return .auth }
        if text.contains("unsupported startup parameter") { return .pooler }
        // An error about an ended connection says SSL too: "SSL SYSCALL error: EOF detected", "SSL connection has been closed
        // unexpectedly".
        let hasEnded = text.contains("SYSCALL") || text.contains("unexpected")
        if !hasEnded, text.contains("SSL") || text.contains("certificate") { return .tls }
        return .noDatabase
    }
}
