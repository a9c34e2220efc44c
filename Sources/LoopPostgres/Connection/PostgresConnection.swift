// Unsafe: `drop` frees the connection and the memory of its notices once. libpq keeps no other pointer of a call.

internal import CPQ
internal import Glibc

/// A connection to a PostgreSQL server. One thread at a time uses it, and it is closed when it goes out of scope.
///
/// Every call has a deadline. The server is never asked to cancel a statement, because a statement that waits for its standbys
/// would then report success. After the deadline the connection is dropped, and the effect of the statement is unknown.
///
/// It is sendable, because it has one owner at a time, which may be on any thread.
@safe package struct PostgresConnection: ~Copyable, @unchecked Sendable {
    /// Nil after the connection was dropped.
    private(set) var raw: OpaquePointer?
    var notices: UnsafeMutablePointer<loop_pg_notices>
    var prepared: Set<String> = []
    /// The sent statements with outcomes that were not taken yet.
    var pipeline = Pipeline()
    /// The URL of the database, without a password.
    package let place: String
    /// The number of the connected host in the string, from 0.
    package private(set) var host = 0
    /// The name of that host: `db:5433`, `db` with the usual port, or the folder of a socket.
    package private(set) var hostName = ""
    /// The server's process ID for this session. It is kept after the connection is dropped.
    package private(set) var backendPID: Int32 = 0

    /// Connects to the first host that answers as the string requires.
    /// - Parameters:
    ///   - string: the address of the database.
    ///   - defaults: options for those that the string does not give.
    ///   - first: the host that is tried first, from 0. The later ones follow in order, then those before it.
    ///   - settings: settings of the server for this session, whatever the string, the role and the database say.
    ///   - limit: how long each host may take.
    /// - Throws: ``PostgresError`` of kind `.lost`, with the reason of each host, and the code of the most informative failure.
    ///   Of kind `.misuse` if an option of the string has a value that libpq does not know.
    package init(
        _ string: ConnectionString, defaults: [String: String] = [:], startingAt first: Int = 0,
        settings: [String: String] = [:], within limit: Duration
    ) throws(PostgresError) {
        place = string.description
        unsafe notices = .allocate(capacity: 1)
        unsafe notices.initialize(to: loop_pg_notices())
        unsafe raw = nil
        var failures: [HostFailure] = []
        var readOnlyHosts: [Int] = []
        let attempts = string.attempts
        for number in attempts.indices {
            let index = (first + number) % attempts.count
            var options = attempts[index].merging(defaults) { own, _ in own }
            let words = settings.sorted { $0.key < $1.key }.map { "-c \($0.key)=\($0.value)" }
            if !words.isEmpty { options["options", default: ""] += " " + words.joined(separator: " ") }
            let name = ConnectionString.hostName(of: attempts[index])
            let connection = unsafe Self.start(options)
            guard let connection = unsafe connection else {
                failures.append(HostFailure(host: name, message: "libpq has no memory"))
                continue
            }
            // Only the message of a connection error has its code.
            unsafe PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
            unsafe loop_pg_receive_notices(connection, notices)
            if let reason = unsafe Self.finish(connection, Deadline(after: limit)) {
                let failure = HostFailure(host: name, message: reason)
                failures.append(failure)
                if failure.isReadOnly { readOnlyHosts.append(index) }
                unsafe PQfinish(connection)
                continue
            }
            unsafe PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
            unsafe PQsetnonblocking(connection, 1)
            unsafe raw = connection
            host = index
            hostName = name
            unsafe backendPID = PQbackendPID(connection)
            return
        }
        let main = HostFailure.mainOne(of: failures)
        throw PostgresError(
            failures.contains { $0.isMistake } ? .misuse : .lost, "connect to \(place)", code: main?.code ?? "",
            text: failures.map(\.text).joined(separator: "; "),
            host: main?.host ?? "", readOnlyHosts: readOnlyHosts)
    }

    deinit {
        unsafe PQfinish(raw)
        unsafe notices.deallocate()
    }

    private static func start(_ options: [String: String]) -> OpaquePointer? {
        let sorted = options.sorted { $0.key < $1.key }
        let names = unsafe sorted.map { unsafe strdup($0.key) }
        let values = unsafe sorted.map { unsafe strdup($0.value) }
        defer {
            unsafe (names + values).forEach { unsafe free($0) }
        }
        let keywords = unsafe names.map { unsafe $0.map { unsafe UnsafePointer($0) } } + [nil]
        let texts = unsafe values.map { unsafe $0.map { unsafe UnsafePointer($0) } } + [nil]
        return unsafe PQconnectStartParams(keywords, texts, 0)
    }

    static let noAnswer = "no answer in time"

    /// - Returns: why there is no connection, or nil if there is one.
    private static func finish(_ connection: OpaquePointer, _ deadline: Deadline) -> String? {
        var wanted = POLLOUT
        while unsafe PQstatus(connection) != CONNECTION_BAD {
            guard deadline.wait(for: unsafe PQsocket(connection), wanted) else { return noAnswer }
            switch unsafe PQconnectPoll(connection) {
            case PGRES_POLLING_OK: return nil
            case PGRES_POLLING_READING: wanted = POLLIN
            case PGRES_POLLING_WRITING: wanted = POLLOUT
            default: return unsafe Self.message(of: connection)
            }
        }
        return unsafe Self.message(of: connection)
    }

    static func message(of connection: OpaquePointer) -> String {
        unsafe PQerrorMessage(connection).map { unsafe String(cString: $0) } ?? "the connection is lost"
    }

    /// Whether the connection can still be used.
    package var isOpen: Bool { unsafe raw != nil }

    /// Closes the connection at once, without a message to the server. Bytes that wait to be sent are dropped.
    package mutating func drop() {
        guard let connection = unsafe raw else { return }
        unsafe shutdown(PQsocket(connection), Int32(SHUT_RDWR))
        unsafe PQfinish(connection)
        unsafe raw = nil
        pipeline = Pipeline()
    }

    // MARK: Statements

    /// Runs one statement with parameters.
    /// - Parameters:
    ///   - sql: one statement, with parameters `$1`, `$2`, ….
    ///   - parameters: the values of its parameters.
    ///   - operation: its purpose, as text that follows "could not" in an error.
    ///   - limit: how long it may take.
    /// - Throws: ``PostgresError``. After one of the kinds `.lost` and `.late` the connection is dropped.
    package mutating func run(
        _ sql: String, _ parameters: [Parameter], _ operation: String, within limit: Duration
    ) throws(PostgresError) -> QueryResult {
        let deadline = Deadline(after: limit)
        return try unsafe exchange(operation, deadline, parameters) { connection, values, lengths, forms in
            let types = parameters.map(\.type)
            return unsafe PQsendQueryParams(
                connection, sql, Int32(parameters.count), types, values, lengths, forms, 1)
        }
    }

    /// Runs one statement without parameters.
    /// - Throws: ``PostgresError``, as the method with parameters does.
    package mutating func run(
        _ sql: String, _ operation: String, within limit: Duration
    ) throws(PostgresError) -> QueryResult {
        try run(sql, [], operation, within: limit)
    }

    /// Runs a prepared statement with parameters. If this connection has not prepared it yet, it does so first.
    /// - Parameters:
    ///   - statement: one statement, with parameters `$1`, `$2`, ….
    ///   - parameters: the values of its parameters.
    ///   - operation: its purpose, as text that follows "could not" in an error.
    ///   - limit: how long it may take.
    ///   - pause: after what time to call `isSlow` once, if there is no outcome yet. Nil never calls it.
    ///   - isSlow: may ask over another connection for the reason. Its own time counts as time of the statement.
    /// - Throws: ``PostgresError``, as the method that takes SQL does.
    package mutating func run(
        _ statement: PreparedStatement, _ parameters: [Parameter] = [], _ operation: String, within limit: Duration,
        after pause: Duration? = nil, isSlow: () -> Void = {}
    ) throws(PostgresError) -> QueryResult {
        let deadline = Deadline(after: limit)
        try prepare(statement, parameters, operation, deadline)
        let asksAt = pause.map { Deadline(after: $0) }
        return try unsafe exchange(operation, deadline, parameters, at: asksAt, isSlow) {
            connection, values, lengths, forms in
            unsafe PQsendQueryPrepared(
                connection, statement.name, Int32(parameters.count), values, lengths, forms, 1)
        }
    }

    /// Prepares a statement, unless this connection has already done so.
    private mutating func prepare(
        _ statement: PreparedStatement, _ parameters: [Parameter], _ operation: String, _ deadline: Deadline
    ) throws(PostgresError) {
        guard !prepared.contains(statement.name) else { return }
        _ = try unsafe exchange(operation, deadline, []) { connection, _, _, _ in
            let types = parameters.map(\.type)
            return unsafe PQsendPrepare(connection, statement.name, statement.sql, Int32(types.count), types)
        }
        prepared.insert(statement.name)
    }

    /// Runs `body` in a transaction, and commits it.
    /// - Throws: what `body` throws, and ``PostgresError``. The connection is dropped then, with the transaction.
    package mutating func transaction<Result: ~Copyable>(
        _ operation: String, within limit: Duration,
        _ body: (inout PostgresConnection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        do throws(PostgresError) {
            _ = try run("BEGIN", operation, within: limit)
            let result = try body(&self)
            let tag = try run("COMMIT", operation, within: limit).commandTag
            guard tag == "COMMIT" else {
                throw PostgresError(.lost, operation, text: "the server answered \(tag) to COMMIT")
            }
            return result
        } catch {
            drop()
            throw error
        }
    }

    private typealias Send = (
        OpaquePointer, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Int32

    /// Sends a statement, and takes every result until the server is ready again. Only then is the statement committed.
    private mutating func exchange(
        _ operation: String, _ deadline: Deadline, _ parameters: [Parameter], at asksAt: Deadline? = nil,
        _ isSlow: () -> Void = {}, _ send: Send
    ) throws(PostgresError) -> QueryResult {
        let connection = unsafe try usable(operation, parameters)
        guard pipeline.sent.isEmpty else {
            throw PostgresError(.misuse, operation, text: "statements were sent before whose outcomes were not taken")
        }
        unsafe notices.pointee = loop_pg_notices()
        let isSent = unsafe Parameter.lend(parameters) { values, lengths, forms in
            unsafe send(connection, values, lengths, forms)
        }
        guard isSent == 1, unsafe Self.flush(connection, deadline) else {
            throw unsafe failure(connection, operation, deadline)
        }
        var found: PostgresError?
        var last: QueryResult?
        var asksAt = asksAt
        while true {
            while unsafe PQisBusy(connection) == 1 {
                if let time = asksAt, !time.wait(for: unsafe PQsocket(connection), POLLIN) {
                    asksAt = nil
                    isSlow()
                }
                guard deadline.wait(for: unsafe PQsocket(connection), POLLIN),
                    unsafe PQconsumeInput(connection) == 1
                else { throw unsafe failure(connection, operation, deadline) }
            }
            guard let result = unsafe PQgetResult(connection) else { break }
            switch unsafe PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: last = unsafe QueryResult(result)
            default:
                if found == nil { found = unsafe Self.error(of: result, operation) }
                unsafe PQclear(result)
            }
        }
        guard unsafe PQstatus(connection) == CONNECTION_OK else {
            let code = found?.code ?? ""
            let text = unsafe found?.text ?? Self.message(of: connection)
            drop()
            throw PostgresError(.lost, operation, code: code, text: text)
        }
        if let found { throw found }
        if let warning = warning(operation) { throw warning }
        guard let last = consume last else {
            drop()
            throw PostgresError(.lost, operation, text: "the server gave no result")
        }
        return last
    }

    /// The connection, if it is still open and the parameters fit into a message.
    func usable(_ operation: String, _ parameters: [Parameter] = []) throws(PostgresError) -> OpaquePointer {
        guard let connection = unsafe raw else {
            throw PostgresError(.lost, operation, text: "the connection was dropped before")
        }
        guard Parameter.fit(parameters) else {
            throw PostgresError(.misuse, operation, text: "more than \(Parameter.bytesMax >> 20) MiB at once")
        }
        return unsafe connection
    }

    static func flush(_ connection: OpaquePointer, _ deadline: Deadline) -> Bool {
        while true {
            switch unsafe PQflush(connection) {
            case 0: return true
            case 1:
                // A server that has bytes to send may not read on before they are received.
                guard deadline.wait(for: unsafe PQsocket(connection), POLLIN | POLLOUT),
                    unsafe PQconsumeInput(connection) == 1
                else { return false }
            default: return false
            }
        }
    }

    mutating func failure(
        _ connection: OpaquePointer, _ operation: String, _ deadline: Deadline
    ) -> PostgresError {
        defer { drop() }
        guard !deadline.isOver else {
            return PostgresError(.late, operation, text: "\(place) did not answer in time; the connection was dropped")
        }
        return unsafe PostgresError(.lost, operation, text: Self.message(of: connection))
    }

    static func error(of result: OpaquePointer, _ operation: String) -> PostgresError {
        let code = unsafe PQresultErrorField(result, Int32(LOOP_PG_SQLSTATE)).map { unsafe String(cString: $0) }
        let text = unsafe PQresultErrorField(result, Int32(LOOP_PG_MESSAGE)).map { unsafe String(cString: $0) }
        let whole = unsafe PQresultErrorMessage(result).map { unsafe String(cString: $0) }
        return PostgresError(
            .refused, operation, code: code ?? "", text: text ?? whole ?? "the server refused without a reason")
    }

    func warning(_ operation: String) -> PostgresError? {
        guard unsafe notices.pointee.warnings_count > 0 else { return nil }
        let code = unsafe withUnsafeBytes(of: notices.pointee.code) { unsafe Self.text($0) }
        let text = unsafe withUnsafeBytes(of: notices.pointee.text) { unsafe Self.text($0) }
        return PostgresError(
            unsafe notices.pointee.is_unconfirmed ? .unconfirmed : .warned, operation, code: code, text: text)
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
