package import LoopCluster
internal import LoopCore
internal import LoopNode

/// What one server of a database says about itself, as far as a loop's journal depends on it.
package struct DatabaseFacts: Equatable, Sendable {
    /// The version as the server writes it, such as `15.14`.
    package var version = ""
    /// Whether it is a replica, which cannot be written.
    package var isReplica = false
    /// Whether transactions are read-only by default.
    package var isReadOnly = false
    /// Whether the address leads to a pooler.
    package var isPooled = false
    /// Whether the connection is encrypted, or nil if it does not leave this machine.
    package var isEncrypted: Bool?
    /// How far the server's clock is ahead of this machine's, within ``clockError``.
    package var clockAhead = Duration.zero
    /// Half of the time that the question took.
    package var clockError = Duration.zero
    /// The settings of the role that decide whether a commit is durable, by name.
    package var settings: [String: String] = [:]
    package var connections: Int64 = 0
    package var connectionsMax: Int64 = 0
    /// The version of the tables of journals, or nil if they are not there or may not be read.
    package var tablesVersion: Int64?
    /// The privileges that the role lacks, such as `DELETE on loop_batch`.
    package var missingPrivileges: [String] = []
    /// Whether the role sees the sessions of other roles.
    package var seesOthers = false
    /// The age of the oldest transaction that keeps dead rows, as far as the role sees it.
    package var oldestTransaction = Duration.zero
    /// How long a replica waits until it connects to its primary again.
    package var reconnectsAfter = Duration.zero
    /// Whether a replica receives from a primary, or nil if the role may not see that.
    package var receives: Bool?

    package init() {}
}

/// The questions of `loopctl doctor` and `loopctl journal status` to a database. They read only.
package enum DatabaseInquiry {
    /// A server of a URL, and what it says, or why it says nothing.
    package struct Server: Sendable {
        /// `db:5433`, or `db` with the usual port.
        package let name: String
        package let facts: Result<DatabaseFacts, JournalError>

        package init(name: String, facts: Result<DatabaseFacts, JournalError>) {
            self.name = name
            self.facts = facts
        }
    }

    /// A journal in a database.
    package struct Journal: Codable, Equatable, Sendable {
        package let loop: String
        /// `current`, `previous` or `damaged`.
        package let keptAs: String
        package let seq: Int64
        /// The first event that was not trimmed.
        package let firstSeq: Int64
        /// The seq of the newest snapshot, or nil if there is none.
        package let snapshotSeq: Int64?
        /// Grows with each reducer that takes the journal.
        package let term: Int64
        /// The process that took it last. It has the journal unless ``isReleased``.
        package let holder: String
        package let address: String
        package let isReleased: Bool
        package let hasEnded: Bool
        /// Where the journal was moved, or nil.
        package let movedTo: String?
    }

    /// Asks every server of a URL. Each takes two seconds at most.
    package static func servers(of url: ConnectionString) -> [Server] {
        (0..<url.hostCount).map(url.only).map { host in
            do throws(PostgresError) {
                return Server(name: host.hostName, facts: .success(try facts(of: host)))
            } catch {
                return Server(name: host.hostName, facts: .failure(.postgres("be examined", error, at: host)))
            }
        }
    }

    /// Lists the journals of a database.
    /// - Throws: `JournalError` if no server of the URL answers, or it lacks the tables.
    package static func journals(in url: ConnectionString) throws(JournalError) -> [Journal] {
        var session = try PostgresSchema.session(url, for: .reading, name: "loop/status")
        let found = try session.run(
            """
            SELECT loop, kept_as, coalesce(newest.last_seq, trimmed_seq), trimmed_seq + 1,
                    (SELECT max(seq) FROM loop_snapshot WHERE journal_id = loop_journal.id),
                    term, holder_name, address, released, ended, moved_to
                FROM loop_journal LEFT JOIN LATERAL \(JournalRow.newest) AS newest ON true
                ORDER BY loop, kept_as
            """, "be listed")
        return (0..<found.count).map { row in
            Journal(
                loop: found.text(row, 0) ?? "", keptAs: found.text(row, 1) ?? "", seq: found.integer(row, 2) ?? 0,
                firstSeq: found.integer(row, 3) ?? 0, snapshotSeq: found.integer(row, 4),
                term: found.integer(row, 5) ?? 0,
                holder: found.text(row, 6) ?? "", address: found.text(row, 7) ?? "",
                isReleased: found.integer(row, 8) == 1, hasEnded: found.integer(row, 9) == 1,
                movedTo: found.text(row, 10))
        }
    }

    private static func facts(of url: ConnectionString) throws(PostgresError) -> DatabaseFacts {
        let operation = "examine the server"
        let limit = Duration.seconds(1)
        var connection = try PostgresConnection(
            url, defaults: ["connect_timeout": "1"], settings: ["application_name": "loop/doctor"], within: limit)
        let (asked, before) = (SystemClock.wall, SystemClock.monotonic)
        let server = try connection.run(
            """
            SELECT current_setting('server_version'), pg_is_in_recovery(), pg_backend_pid(),
                (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND inet_client_addr() IS NOT NULL
                    AND host(inet_client_addr()) <> host(inet_server_addr())),
                (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, current_setting('default_transaction_read_only') = 'on',
                (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), current_setting('max_connections')::bigint,
                pg_has_role('pg_read_all_stats', 'USAGE'),
                (SELECT CASE unit WHEN 'ms' THEN setting::bigint END FROM pg_settings WHERE name = 'wal_retrieve_retry_interval'),
                (SELECT status = 'streaming' FROM pg_stat_wal_receiver), to_regclass('loop_schema') IS NOT NULL
            """, operation, within: limit)
        var facts = DatabaseFacts()
        facts.clockError = .nanoseconds((SystemClock.monotonic - before).wholeNanoseconds / 2)
        if let clock = server.integer(0, 4) {
            facts.clockAhead = .microseconds(clock) - .milliseconds(asked.milliseconds) - facts.clockError
        }
        facts.version = server.text(0, 0) ?? ""
        facts.isReplica = server.integer(0, 1) == 1
        facts.isPooled = server.integer(0, 2) != Int64(connection.backendPID)
        facts.isEncrypted = server.integer(0, 3).map { $0 == 1 }
        facts.isReadOnly = server.integer(0, 5) == 1
        facts.connections = server.integer(0, 6) ?? 0
        facts.connectionsMax = server.integer(0, 7) ?? 0
        facts.seesOthers = server.integer(0, 8) == 1
        facts.reconnectsAfter = .milliseconds(server.integer(0, 9) ?? 0)
        facts.receives = server.integer(0, 10).map { $0 == 1 }
        let names = ["synchronous_commit", "fsync", "full_page_writes", "synchronous_standby_names"]
        for name in names {
            let setting = try connection.run("SELECT current_setting($1)", [.text(name)], operation, within: limit)
            facts.settings[name] = setting.text(0, 0)
        }
        facts.oldestTransaction = .seconds(
            try connection.run(HeldConnection.oldestTransaction, operation, within: limit).integer(0, 0) ?? 0)
        guard server.integer(0, 11) == 1 else { return facts }
        let missing = try connection.run(missingPrivileges, operation, within: limit)
        facts.missingPrivileges = (0..<missing.count).compactMap { missing.text($0, 0) }
        if !facts.missingPrivileges.contains("SELECT on loop_schema") {
            facts.tablesVersion = try connection.run("SELECT max(version) FROM loop_schema", operation, within: limit)
                .integer(0, 0)
        }
        return facts
    }

    private static let missingPrivileges = """
        SELECT privilege || ' on ' || name FROM (
            SELECT 'loop_schema' AS name, 'SELECT' AS privilege
            UNION ALL SELECT name, privilege
                FROM unnest(ARRAY['loop_journal', 'loop_renewal', 'loop_batch', 'loop_snapshot', 'loop_snapshot_piece']) AS name,
                    unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege) AS needed
            WHERE to_regclass(name) IS NOT NULL AND NOT has_table_privilege(to_regclass(name), privilege) ORDER BY 1
        """
}
