internal import LoopWire

/// What a statement waits for that the server has not answered.
struct StatementWait {
    let reason: JournalFault.Reason
    /// What it waits for, as text for people that follows "it waits for".
    let text: String
}

/// A query for what one backend waits for, over another connection to its server. Any thread may run it, even after the first
/// connection was dropped.
struct StatementQuestion: Sendable {
    /// The database, with only the host of the connection.
    let url: ConnectionString
    /// The name of that host, for people.
    let host: String
    let backend: Int32

    /// Asks the server. Blocks for two seconds at most.
    /// - Returns: the reason, or nil if the server does not answer, or if the backend waits for something else.
    func ask() -> StatementWait? {
        guard
            let found = try? PostgresConnection.look(
                at: url,
                """
                SELECT coalesce(wait_event_type, ''), coalesce(wait_event, ''), current_setting('synchronous_standby_names'),
                    (SELECT string_agg(pid || ' (' || coalesce(nullif(application_name, ''), usename) || ')', ', ')
                        FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1::int)))
                    FROM pg_stat_activity WHERE pid = $1::int
                """, "look up a backend", [.integer(Int64(backend))])
        else { return nil }
        guard let type = found.text(0, 0), let event = found.text(0, 1) else { return nil }
        switch (type, event) {
        case (_, "SyncRep"):
            return StatementWait(
                reason: .noSyncStandby,
                text: "a synchronous standby (synchronous_standby_names is '\(found.text(0, 2) ?? "")')")
        case ("Lock", _):
            let holders = found.text(0, 3).map { "process \($0)" } ?? "another session"
            return StatementWait(reason: .lockWait, text: "a lock that \(holders) has")
        default: return nil
        }
    }
}
