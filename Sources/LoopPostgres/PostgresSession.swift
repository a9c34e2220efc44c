internal import LoopCluster
internal import LoopCollections
internal import LoopCore
internal import LoopNode
internal import LoopWire

/// A connection that is set up for a journal: directly to one backend, without the server's own time limits.
struct PostgresSession: ~Copyable {
    enum Use: Equatable {
        case reading
        /// For writing, with receipts of this durability.
        case writing(Durability)

        static let writing = Use.writing(.fsync)
    }

    var connection: PostgresConnection
    let url: ConnectionString
    /// The choice of the host to try first.
    let hosts: HostChoice?
    /// Lines about the server for people.
    private(set) var report: [String] = []
    /// The setting under which a commit is as durable as the server makes it.
    private(set) var synchronousCommit = "on"
    /// The standbys for which the server's commits wait.
    private(set) var standbyNames = ""

    /// The standard limit of a short statement.
    static let limit = ReducerNodeConfiguration.standardDeadline
    /// How long a short statement may take, including its commit, which waits for the standbys.
    var limit = Self.limit
    /// How long connecting to each host may take.
    static let connectLimit = Duration.seconds(2)
    /// How long a statement on many rows may take.
    static let longLimit = Duration.seconds(120)

    /// Connects, and sets the connection up.
    /// - Parameters:
    ///   - name: the name of the session, which other sessions of the server see.
    ///   - hosts: the choice of the host to try first. It notes each host that does not vouch for its commits. Nil is the URL's
    ///     first host.
    ///   - limit: how long a short statement may take.
    static func open(
        _ url: ConnectionString, for use: Use, name: String, hosts: HostChoice? = nil, limit: Duration = Self.limit
    ) throws(JournalError) -> PostgresSession {
        var session = PostgresSession(try connect(url, for: use, hosts, limit), url, hosts)
        session.limit = limit
        try session.setUp(use, name)
        return session
    }

    private init(_ connection: consuming PostgresConnection, _ url: ConnectionString, _ hosts: HostChoice?) {
        self.connection = connection
        self.url = url
        self.hosts = hosts
    }

    private static func connect(
        _ url: ConnectionString, for use: Use, _ hosts: HostChoice?, _ limit: Duration
    ) throws(JournalError) -> PostgresConnection {
        let unanswered = "\(limit.wholeMilliseconds)"
        var defaults = ["connect_timeout": "2", "tcp_user_timeout": unanswered, "client_encoding": "UTF8"]
        // A standby cannot be written to. Of several hosts, the URL means the primary.
        if use != .reading { defaults["target_session_attrs"] = "read-write" }
        do throws(PostgresError) {
            // These settings apply from the first statement on.
            let settings = ["statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0"]
            return try PostgresConnection(
                url, defaults: defaults, startingAt: hosts?.first ?? 0, settings: settings, within: Self.connectLimit)
        } catch {
            var failure = JournalError.postgres("connect", error, at: url)
            if failure.fault.reason == .readOnlyOnly, let host = primary(of: url, among: error.readOnlyHosts) {
                failure.reason += "; \(host) is no replica, and default_transaction_read_only is on there"
                failure.remedy = "turn default_transaction_read_only off for the role, the database or the server"
            }
            throw failure
        }
    }

    /// - Returns: the name of the first of these hosts that answers and is no replica, or nil if there is none.
    private static func primary(of url: ConnectionString, among hosts: [Int]) -> String? {
        for host in hosts.map(url.only) {
            guard
                let found = try? PostgresConnection.look(
                    at: host, "SELECT pg_is_in_recovery()", "look for a primary")
            else { continue }
            if found.integer(0, 0) == 0 { return host.hostName }
        }
        return nil
    }

    private mutating func setUp(_ use: Use, _ name: String) throws(JournalError) {
        let operation = "connect"
        // If the server ended a statement or session by itself, the outcome would be unknown without a cause. The settings are set
        // by SQL, because a URL may set others.
        _ = try run(
            """
            SELECT set_config(name, CASE name WHEN 'client_min_messages' THEN 'warning'
                    WHEN 'default_transaction_isolation' THEN 'read committed' WHEN 'application_name' THEN $1 ELSE '0' END, false)
                FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout',
                    'idle_session_timeout', 'idle_in_transaction_session_timeout', 'client_min_messages',
                    'default_transaction_isolation', 'application_name')
            """, [.text(name)], operation)
        try checkBackend(operation)
        if case .writing(let durability) = use { try prepare(durability, operation) }
    }

    /// Refuses a pooler. It gives each transaction another backend, so it would run appends out of order and forget settings.
    private mutating func checkBackend(_ operation: String) throws(JournalError) {
        let pid = try run("SELECT pg_backend_pid()", operation).integer(0, 0)
        guard pid == Int64(connection.backendPID) else {
            throw JournalError(
                .foreign, operation: operation, reason: "\(url) leads to a pooler, not to the server itself",
                remedy: "connect to PostgreSQL directly", fault: fault(.pooler))
        }
    }

    private mutating func prepare(_ durability: Durability, _ operation: String) throws(JournalError) {
        let found = try run(
            """
            SELECT current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes'),
                current_setting('synchronous_standby_names')
            """, operation)
        let commit = found.text(0, 0) ?? ""
        standbyNames = found.text(0, 3) ?? ""
        guard durability == .fsync else {
            if commit != "off" { synchronousCommit = commit }
            // A takeover must be durable, even if the records need not be.
            try setSynchronousCommit(true)
            return
        }
        synchronousCommit = commit
        guard commit != "off", found.text(0, 1) == "on", found.text(0, 2) == "on" else {
            throw JournalError(
                .foreign, operation: operation,
                reason: "\(url) loses what it has acknowledged: synchronous_commit is \(commit), fsync is"
                    + " \(found.text(0, 1) ?? "unknown"), full_page_writes is \(found.text(0, 2) ?? "unknown")",
                remedy: "turn all three on, or pass --durability os", fault: fault(.unsafeSettings))
        }
        // This session now has its own setting, even if the server's changes.
        try setSynchronousCommit(true)
        if !standbyNames.isEmpty, ["local", "remote_write"].contains(commit) {
            report.append(
                "synchronous_commit is \(commit) at \(url): a receipt does not wait until \(standbyNames) has written the"
                    + " records to its disk")
        }
    }

    /// Sets whether the next commits wait until they are as durable as the server makes them.
    mutating func setSynchronousCommit(_ isOn: Bool) throws(JournalError) {
        _ = try run(
            "SELECT set_config('synchronous_commit', $1, false)", [.text(isOn ? synchronousCommit : "off")],
            "set the durability")
    }

    /// Runs a statement, as `PostgresConnection` does.
    mutating func run(
        _ sql: String, _ parameters: [Parameter], _ operation: String, within limit: Duration? = nil
    ) throws(JournalError) -> QueryResult {
        do throws(PostgresError) {
            return try connection.run(sql, parameters, operation, within: limit ?? self.limit)
        } catch {
            throw failure(operation, error)
        }
    }

    /// Runs a statement without parameters, as `PostgresConnection` does.
    mutating func run(_ sql: String, _ operation: String) throws(JournalError) -> QueryResult {
        try run(sql, [], operation)
    }

    /// Runs a prepared statement, as `PostgresConnection` does.
    /// - Parameter pause: after what time the server is asked what the statement waits for. An error says it if it is known by then.
    mutating func run(
        _ statement: PreparedStatement, _ parameters: [Parameter], _ operation: String, asksAfter pause: Duration? = nil
    ) throws(JournalError) -> QueryResult {
        let wait = wait
        let cause = Locked<StatementWait?>(nil)
        do throws(PostgresError) {
            return try connection.run(statement, parameters, operation, within: limit, after: pause) {
                // A server that is slow to connect does not delay the statement.
                _ = try? NodeThread("loop-inquiry") {
                    let found = wait.ask()
                    cause.withLock { $0 = found }
                }
            }
        } catch {
            throw failure(operation, error, cause.withLock { $0 })
        }
    }

    /// Sends a prepared statement without waiting, as `PostgresConnection` does.
    mutating func send(
        _ statement: PreparedStatement, _ parameters: [Parameter], _ operation: String
    ) throws(JournalError) {
        do throws(PostgresError) {
            try connection.send(statement, parameters, operation, within: limit)
        } catch {
            throw failure(operation, error)
        }
    }

    /// Takes the outcome of the oldest append that was sent.
    /// - Returns: whether the outcome is there, which means that one row is committed.
    mutating func takeAppend(waits: Bool) throws(JournalError) -> Bool {
        guard let operation = connection.sentOperation else { return false }
        let found: QueryResult?
        do throws(PostgresError) {
            found = try connection.takeSent(waits: waits)
        } catch {
            throw failure(operation, error)
        }
        guard let found else { return false }
        guard found.affectedCount == 1 else { throw .notHeld(operation, url) }
        return true
    }

    /// Makes the journal's error from an error of this connection. If a statement was late, it asks the server for the reason.
    /// - Parameter cause: what the statement has waited for, or nil if that is not known.
    func failure(_ operation: String, _ error: PostgresError, _ cause: StatementWait? = nil) -> JournalError {
        hosts?.notice(error, at: connection.host)
        let located = PostgresError(
            error.kind, error.operation, code: error.code, text: error.text, host: connection.hostName)
        return .postgres(operation, located, at: url, cause: cause ?? (error.kind == .late ? wait.ask() : nil))
    }

    /// A query for what the newest statement waits for.
    var wait: StatementQuestion {
        StatementQuestion(
            url: url.only(connection.host), host: connection.hostName, backend: connection.backendPID)
    }

    private func fault(_ reason: JournalFault.Reason) -> JournalFault {
        JournalFault(reason, host: connection.hostName)
    }

    mutating func drop() { connection.drop() }
}
