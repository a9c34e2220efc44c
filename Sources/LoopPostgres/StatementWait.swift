internal import LoopWire
internal import PostgreSQL

/// What a statement waits for that the server has not answered: its backend is looked up over another connection to the same server.
struct StatementWait {
    let reason: JournalFault.Reason
    /// For people.
    let text: String

    /// How long the connection and the question may take, each.
    private static let limit = Duration.seconds(1)

    /// Asks. Blocks for two seconds at most.
    /// - Parameters:
    ///   - url: the one host to which the statement was sent.
    ///   - backend: the process ID of its backend.
    /// - Returns: nil if the server does not answer this question either, or if the backend waits for nothing that is known here.
    static func ask(_ url: ConnectionString, _ backend: Int32) -> StatementWait? {
        guard
            var connection = try? PostgresConnection(
                url, defaults: ["connect_timeout": "1"], settings: ["application_name": "loop/look"], within: limit),
            let found = try? connection.run(
                """
                SELECT coalesce(wait_event_type, ''), coalesce(wait_event, ''), current_setting('synchronous_standby_names'),
                    (SELECT string_agg(pid || ' (' || coalesce(nullif(application_name, ''), usename) || ')', ', ')
                        FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1::int)))
                    FROM pg_stat_activity WHERE pid = $1::int
                """, [.integer(Int64(backend))], "look up a backend", within: limit)
        else { return nil }
        guard let type = found.text(0, 0), let event = found.text(0, 1) else { return nil }
        switch (type, event) {
        case (_, "SyncRep"):
            return StatementWait(
                reason: .noSyncStandby,
                text: "the commit waits for a synchronous standby (synchronous_standby_names is"
                    + " '\(found.text(0, 2) ?? "")')")
        case ("Lock", _):
            let holders = found.text(0, 3).map { "process \($0)" } ?? "another session"
            return StatementWait(reason: .lockWait, text: "it waits for a lock that \(holders) has")
        default: return nil
        }
    }
}

/// The question what one backend waits for. It may be asked on any thread, also when the connection was dropped.
struct StatementQuestion: Sendable {
    /// The one host.
    let url: ConnectionString
    /// For people.
    let host: String
    let backend: Int32

    func ask() -> StatementWait? { StatementWait.ask(url, backend) }
}
