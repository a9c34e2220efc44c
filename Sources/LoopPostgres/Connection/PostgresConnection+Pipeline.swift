// Unsafe: as in `PostgresConnection`. A result is freed once, here or by its `QueryResult`.

internal import CPQ
internal import Glibc

/// The sent statements with outcomes that were not taken yet, the oldest first.
struct Pipeline: ~Copyable {
    struct Statement {
        let operation: String
        let deadline: Deadline
    }

    var sent: [Statement] = []
    /// The result of the oldest statement. The statement may still fail when it is committed.
    var result: QueryResult?
}

/// Sends statements one after the other, without waiting. Each is a separate transaction. Its Sync is sent with it, so that the
/// server commits without waiting for this process.
///
///     send ──▶ send ──▶ … ──▶ takeSent: the oldest one is committed, without a warning ──▶ takeSent ──▶ …
///                                └── anything else ──▶ the connection is dropped, with all statements behind it
///
/// No other statement runs before all outcomes were taken.
extension PostgresConnection {
    /// The number of sent statements with outcomes that were not taken yet.
    package var sentCount: Int { pipeline.sent.count }

    /// The operation of the oldest sent statement, or nil if there is none.
    package var sentOperation: String? { pipeline.sent.first?.operation }

    /// The connection's descriptor, which is readable when an outcome may be there. It is negative after the connection was
    /// dropped.
    package var descriptor: Int32 { unsafe raw.map { unsafe PQsocket($0) } ?? -1 }

    /// Sends a prepared statement as a transaction of its own. If this connection has not prepared it yet, the transaction does so
    /// first. It waits only until the system takes all bytes.
    /// - Parameters:
    ///   - statement: the statement to send.
    ///   - parameters: the values of its parameters.
    ///   - operation: its purpose, as text that follows "could not" in an error.
    ///   - limit: how long it may take until its outcome is there.
    /// - Throws: ``PostgresError``. After one of the kinds `.lost` and `.late` the connection is dropped.
    package mutating func send(
        _ statement: PreparedStatement, _ parameters: [Parameter], _ operation: String, within limit: Duration
    ) throws(PostgresError) {
        let deadline = Deadline(after: limit)
        let connection = unsafe try usable(operation, parameters)
        if pipeline.sent.isEmpty {
            unsafe notices.pointee = loop_pg_notices()
            guard unsafe PQenterPipelineMode(connection) == 1 else {
                throw unsafe failure(connection, operation, deadline)
            }
        }
        // After any error of the transaction the connection is dropped, with what it has prepared.
        if prepared.insert(statement.name).inserted {
            let types = parameters.map(\.type)
            guard unsafe PQsendPrepare(connection, statement.name, statement.sql, Int32(types.count), types) == 1 else {
                throw unsafe failure(connection, operation, deadline)
            }
        }
        let isSent = unsafe Parameter.lend(parameters) { values, lengths, forms in
            unsafe PQsendQueryPrepared(
                connection, statement.name, Int32(parameters.count), values, lengths, forms, 1)
        }
        guard isSent == 1, unsafe PQpipelineSync(connection) == 1, unsafe Self.flush(connection, deadline) else {
            throw unsafe failure(connection, operation, deadline)
        }
        pipeline.sent.append(Pipeline.Statement(operation: operation, deadline: deadline))
    }

    /// Takes the outcome of the oldest statement that was sent, which is then committed.
    /// - Parameter waits: whether to wait until the outcome is there, or the statement's time is over.
    /// - Returns: the result of the statement, or nil if no statement was sent or the outcome is not there yet.
    /// - Throws: ``PostgresError``, also if the server has warned. The connection is dropped then. It is unknown what this
    ///   statement and those behind it did.
    package mutating func takeSent(waits: Bool) throws(PostgresError) -> QueryResult? {
        guard let oldest = pipeline.sent.first else { return nil }
        let connection = unsafe try usable(oldest.operation)
        var absentCount = 0
        while true {
            if unsafe PQisBusy(connection) == 1 {
                let isRead =
                    unsafe (!waits || oldest.deadline.wait(for: PQsocket(connection), POLLIN))
                    && PQconsumeInput(connection) == 1
                guard isRead else { throw unsafe failure(connection, oldest.operation, oldest.deadline) }
                if unsafe waits || PQisBusy(connection) == 0 { continue }
                guard !oldest.deadline.isOver else {
                    throw unsafe failure(connection, oldest.operation, oldest.deadline)
                }
                return nil
            }
            guard let result = unsafe PQgetResult(connection) else {
                // One nil comes between the results of a statement and its Sync. Without further results, the connection has ended.
                absentCount += 1
                guard absentCount < 3 else { throw unsafe failure(connection, oldest.operation, oldest.deadline) }
                continue
            }
            absentCount = 0
            switch unsafe PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: pipeline.result = unsafe QueryResult(result)
            case PGRES_PIPELINE_SYNC:
                unsafe PQclear(result)
                return try committed(oldest.operation)
            default:
                let error = unsafe Self.error(of: result, oldest.operation)
                // The server ends the session, perhaps between the commit and its report.
                let isFatal = unsafe PQresultErrorField(result, Int32(LOOP_PG_SEVERITY)).map {
                    unsafe String(cString: $0) != "ERROR"
                }
                unsafe PQclear(result)
                drop()
                guard isFatal == true else { throw error }
                throw PostgresError(.lost, error.operation, code: error.code, text: error.text)
            }
        }
    }

    /// Takes the result after the server has committed the oldest statement.
    private mutating func committed(_ operation: String) throws(PostgresError) -> QueryResult {
        pipeline.sent.removeFirst()
        let result = pipeline.result.take()
        let connection = unsafe try usable(operation)
        // A warning may belong to a later statement. It does no harm that it comes early, because it spoils the whole connection
        // anyway.
        if let warning = warning(operation) {
            drop()
            throw warning
        }
        let isIdle = pipeline.sent.isEmpty
        guard let result, unsafe !isIdle || PQexitPipelineMode(connection) == 1 else {
            drop()
            throw PostgresError(.lost, operation, text: "the server gave no result")
        }
        return result
    }
}
