package import LoopCluster
internal import LoopWire

/// The tables of journals in a database. `docs/spec/3-POSTGRES.md` specifies them.
package enum PostgresSchema {
    /// The version that this program supports.
    package static let version: Int64 = 2

    /// A number for the advisory lock that no other program of the database uses: "Loop" in ASCII, twice.
    private static let advisoryLock: Int64 = 0x4c6f_6f70_4c6f_6f70

    private static let statements = [
        "CREATE TABLE IF NOT EXISTS loop_schema (version bigint PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT now())",
        // Appends and renewals only lock the rows of this table. If each append changed a row, each would read all dead versions of
        // it for as long as a long transaction keeps them.
        """
        CREATE TABLE IF NOT EXISTS loop_journal (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            loop_id bigint NOT NULL, loop text NOT NULL, kept_as text NOT NULL, history bigint NOT NULL,
            ended boolean NOT NULL DEFAULT false, moved_to text,
            term bigint NOT NULL, nonce bigint NOT NULL, holder bigint NOT NULL,
            holder_name text NOT NULL, address text NOT NULL, backend bigint NOT NULL, lease_ms bigint NOT NULL, released boolean NOT NULL,
            position bigint NOT NULL, seq bigint NOT NULL, checksum bigint NOT NULL,
            trimmed_position bigint NOT NULL, trimmed_seq bigint NOT NULL, trimmed_checksum bigint NOT NULL,
            UNIQUE (loop_id, kept_as))
        """,
        // Each renewal inserts a row and deletes the one before. The index finds the newest first, however many dead rows there
        // are.
        """
        CREATE TABLE IF NOT EXISTS loop_renewal (
            journal_id bigint NOT NULL, number bigint NOT NULL, PRIMARY KEY (journal_id, number))
            WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)
        """,
        // A batch below 8 KB stays in its row. A larger one is not compressed again.
        """
        CREATE TABLE IF NOT EXISTS loop_batch (
            journal_id bigint NOT NULL, first_position bigint NOT NULL, last_position bigint NOT NULL,
            first_seq bigint NOT NULL, last_seq bigint NOT NULL, checksum bigint NOT NULL, term bigint NOT NULL,
            records bytea NOT NULL, PRIMARY KEY (journal_id, first_position)) WITH (toast_tuple_target = 8160)
        """,
        "ALTER TABLE loop_batch ALTER records SET STORAGE EXTERNAL",
        """
        CREATE TABLE IF NOT EXISTS loop_snapshot (
            journal_id bigint NOT NULL, position bigint NOT NULL, seq bigint NOT NULL, fingerprint bigint NOT NULL,
            byte_count bigint NOT NULL, checksum bigint NOT NULL, term bigint NOT NULL,
            PRIMARY KEY (journal_id, position))
        """,
        """
        CREATE TABLE IF NOT EXISTS loop_snapshot_piece (
            journal_id bigint NOT NULL, position bigint NOT NULL, checksum bigint NOT NULL, piece bigint NOT NULL,
            content bytea NOT NULL, PRIMARY KEY (journal_id, position, checksum, piece))
        """,
        "ALTER TABLE loop_snapshot_piece ALTER content SET STORAGE EXTERNAL",
        "INSERT INTO loop_schema (version) VALUES (\(version)) ON CONFLICT DO NOTHING",
    ]

    /// Creates the missing tables, in the first schema of the role's search path. Several processes may do so at once.
    /// - Parameters:
    ///   - url: the database.
    ///   - note: called with a line for people if they are created although another host of the URL cannot be asked.
    /// - Returns: whether the tables were not there before.
    /// - Throws: `JournalError` of kind `.unreachable` if the database cannot be reached, or another host does not answer in time.
    ///   `.readOnly` if the role may not create tables. `.foreign` if the tables are of another version.
    @discardableResult
    package static func create(
        _ url: ConnectionString, note: (String) -> Void = { _ in }
    ) throws(JournalError) -> Bool {
        let operation = "make the tables of journals"
        var session = try PostgresSession.open(url, for: .writing, name: "loop/init")
        if url.hostCount > 1 { try refuseSecond(&session, operation, note) }
        let wasThere: Bool
        do throws(PostgresError) {
            wasThere = try session.connection.transaction(operation, within: PostgresSession.longLimit) {
                connection throws(PostgresError) in
                // Two processes that create a table at once would conflict in the catalogue, despite IF NOT EXISTS.
                _ = try connection.run(
                    lock, [.integer(advisoryLock)], operation, within: PostgresSession.longLimit)
                let found = try connection.run(isThere, operation, within: PostgresSession.limit)
                let wasThere = found.integer(0, 0) == 1
                if !wasThere {
                    for statement in statements {
                        _ = try connection.run(statement, operation, within: PostgresSession.limit)
                    }
                }
                return wasThere
            }
        } catch {
            throw .postgres(operation, error, at: url)
        }
        if wasThere { try check(&session, url) }
        return !wasThere
    }

    /// Refuses to create tables at a host while another host has them, because a reducer would find either the ones or the others.
    private static func refuseSecond(
        _ session: inout PostgresSession, _ operation: String, _ note: (String) -> Void
    ) throws(JournalError) {
        let found = try session.run(isThere, operation)
        guard found.integer(0, 0) != 1 else { return }
        let others = OtherHosts(of: session.url, than: session.connection.host, have: isThere)
        let host = session.connection.hostName
        guard others.haveIt || others.isLate else {
            if !others.lackIt { note("the tables of journals are made at \(host), although \(others.text)") }
            return
        }
        // A synchronous standby may show the tables before their maker's commit has ended at the primary. The maker holds the lock
        // until its commit has.
        do throws(PostgresError) {
            _ = try session.connection.run(
                lock, [.integer(advisoryLock)], operation, within: PostgresSession.longLimit)
        } catch {
            throw session.failure(operation, error)
        }
        guard try session.run(isThere, operation).integer(0, 0) != 1 else { return }
        throw JournalError(
            others.haveIt ? .foreign : .unreachable, operation: operation,
            reason: "\(host) lacks the tables of journals, and \(others.text)",
            remedy: others.remedy(for: host), fault: JournalFault(.noTables, host: host))
    }

    private static let lock = "SELECT pg_advisory_xact_lock($1)"
    private static let isThere = "SELECT to_regclass('loop_journal') IS NOT NULL"

    /// Connects to a host that has these tables, in this version. A host without them is skipped.
    /// - Parameter hosts: the choice of the host to try first.
    /// - Throws: `JournalError` of kind `.foreign` if no host has them. `.unreachable` if another host has them and cannot be used,
    ///   or if it cannot be asked. Otherwise as `PostgresSession.open`.
    static func session(
        _ url: ConnectionString, for use: PostgresSession.Use, name: String, hosts: HostChoice = HostChoice(),
        limit: Duration = PostgresSession.limit
    ) throws(JournalError) -> PostgresSession {
        var attempt = 1
        while true {
            var session = try PostgresSession.open(url, for: use, name: name, hosts: hosts, limit: limit)
            do throws(JournalError) {
                try check(&session, url)
                return session
            } catch {
                guard [.noTables, .schemaVersion].contains(error.fault.reason) else { throw error }
                hosts.leave(session.connection.host)
                if attempt.isMultiple(of: url.hostCount) {
                    let others = OtherHosts(
                        of: url, than: session.connection.host,
                        have: "SELECT max(version) = \(version) FROM loop_schema")
                    // A host that has them may have got them after it was tried.
                    if !others.haveIt || attempt > url.hostCount { throw missing(session, error, others) }
                }
                attempt += 1
            }
        }
    }

    /// The error of a host without the tables. It is final only if each other host lacks them too.
    private static func missing(
        _ session: borrowing PostgresSession, _ error: JournalError, _ others: OtherHosts
    ) -> JournalError {
        guard !others.lackIt else { return error }
        let host = session.connection.hostName
        return JournalError(
            .unreachable, operation: error.operation,
            reason: "\(host) lacks the tables of journals in version \(version), and \(others.text)",
            remedy: others.remedy(for: host), fault: JournalFault(error.fault.reason, host: host))
    }

    /// Refuses a database without these tables, or with tables of another version.
    private static func check(_ session: inout PostgresSession, _ url: ConnectionString) throws(JournalError) {
        let operation = "be opened"
        let found: QueryResult
        do throws(JournalError) {
            found = try session.run("SELECT max(version) FROM loop_schema", operation)
        } catch {
            throw try whyUnseen(&session, error)
        }
        let version = found.integer(0, 0) ?? 0
        guard version == Self.version else {
            throw JournalError(
                .foreign, operation: operation,
                reason: "\(url) has version \(version) of the tables of journals, this program knows \(Self.version)",
                remedy: "use the program that made them, or another database", fault: JournalFault(.schemaVersion))
        }
    }

    /// Finds out whether missing tables are in a schema that the role cannot use or does not search.
    /// - Returns: the error, with that cause if it applies.
    private static func whyUnseen(
        _ session: inout PostgresSession, _ error: JournalError
    ) throws(JournalError) -> JournalError {
        guard error.fault.reason == .noTables else { return error }
        let found = try session.run(
            """
            SELECT nspname, has_schema_privilege(pg_namespace.oid, 'USAGE'), current_user::text,
                    current_setting('search_path')
                FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
                WHERE relname = 'loop_schema' AND relkind = 'r' ORDER BY nspname
            """, error.operation)
        guard let schema = found.text(0, 0), let role = found.text(0, 2), let path = found.text(0, 3) else {
            return error
        }
        var other = error
        if found.integer(0, 1) == 1 {
            other.reason = "the tables are in the schema \(schema) of \(session.url), and search_path is \(path)"
            other.remedy = "let search_path name that schema: ALTER ROLE \(role) SET search_path = \(schema)"
        } else {
            other.kind = .readOnly
            other.reason =
                "the role \(role) may not use the schema \(schema) of \(session.url), in which the tables are"
            other.remedy = "let it use the schema: GRANT USAGE ON SCHEMA \(schema) TO \(role)"
            other.fault.reason = .denied
        }
        return other
    }
}
