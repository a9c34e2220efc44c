import LoopCluster

/// A process's connection to the database. Its statements run in order, and their answers arrive in order. If it is cut, the
/// process receives nothing more. Sent statements may run much later, because the backend does not know of the cut.
struct DatabaseConnection {
    /// The statements of a process.
    enum Statement {
        /// Reads the row.
        case look
        /// Returns the end of the newest batch.
        case newest
        case takeOver(HolderWatch.Sign, holder: UInt64, address: String, nonce: UInt64)
        case append(SimulatedBatch, SimulatedTerm)
        case renew(SimulatedTerm)
        case release(SimulatedTerm)

        /// Whether it changes nothing.
        var isLook: Bool {
            switch self {
            case .look, .newest: true
            case .takeOver, .append, .renew, .release: false
            }
        }
    }

    /// The answers of the database.
    enum Answer {
        case row(JournalRow)
        case newest(RowEnd)
        /// The row with which a term begins, or nil if another process was faster.
        case taken(JournalRow?)
        /// Whether the statement has changed one row.
        case changed(Bool)
    }

    /// The position of the process among the candidates.
    let candidate: Int
    private var statements: [Statement] = []
    private var answers: [Answer] = []
    /// The number of answers that wait until a standby confirms the changes.
    private(set) var unconfirmedCount = 0
    private(set) var isCut = false
    /// The time before which no statement runs.
    var stalledUntil: UInt64 = 0
    /// The arrival times of the newest statement and of the newest answer.
    private var sentAt: UInt64 = 0
    private var answeredAt: UInt64 = 0

    init(of candidate: Int) { self.candidate = candidate }

    /// - Returns: the time at which it arrives.
    mutating func send(_ statement: Statement, arrival: UInt64) -> UInt64 {
        statements.append(statement)
        sentAt = max(sentAt, arrival)
        return sentAt
    }

    mutating func nextStatement() -> Statement? { statements.isEmpty ? nil : statements.removeFirst() }

    /// - Parameter isConfirmed: whether the answer may leave now.
    /// - Returns: the time at which it arrives, or nil if it does not leave now.
    mutating func answer(_ answer: Answer, isConfirmed: Bool, arrival: UInt64) -> UInt64? {
        if isCut { return nil }
        answers.append(answer)
        guard isConfirmed, unconfirmedCount == 0 else {
            unconfirmedCount += 1
            return nil
        }
        answeredAt = max(answeredAt, arrival)
        return answeredAt
    }

    /// A standby has confirmed everything.
    /// - Returns: the arrival time of each answer that waited.
    mutating func confirm(arrival: UInt64) -> [UInt64] {
        defer { unconfirmedCount = 0 }
        answeredAt = max(answeredAt, arrival)
        return Array(repeating: answeredAt, count: unconfirmedCount)
    }

    mutating func nextAnswer() -> Answer? { answers.isEmpty ? nil : answers.removeFirst() }

    /// The process receives nothing more. Some of its sent statements may still run.
    mutating func cut(running count: Int) {
        isCut = true
        (answers, unconfirmedCount) = ([], 0)
        statements = Array(statements.prefix(count))
    }

    var statementCount: Int { statements.count }
}
