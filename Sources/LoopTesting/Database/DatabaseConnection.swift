import LoopCluster
import LoopCore

/// A process's connection to the database. Its statements run in order, and their answers come in order. Where it is cut, the
/// process hears nothing more; what it had sent may run much later, because the backend does not know.
struct DatabaseConnection {
    /// What is asked of the database.
    enum Statement {
        /// - Parameter behind: where the asker's own state ends; nil: it has none.
        case look(behind: BatchLink?)
        /// Where the newest batch ends.
        case newest
        case takeOver(JournalRow.Sign, holder: UInt64, address: String, nonce: UInt64)
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

    /// What the database says.
    enum Answer {
        /// The row, and the records behind what the asker has; nil: the journal does not have that, or not the records any more.
        case row(JournalRow, behind: [Record]?)
        case newest(BatchLink)
        /// The row with which a term begins; nil: another process was faster.
        case taken(JournalRow?)
        /// Whether the statement has changed one row.
        case changed(Bool)
    }

    /// The position of the process among the candidates.
    let candidate: Int
    private var statements: [Statement] = []
    private var answers: [Answer] = []
    /// Answers wait until a standby confirms what was changed.
    private(set) var unconfirmedCount = 0
    private(set) var isCut = false
    /// No statement runs before that.
    var stalledUntil: UInt64 = 0
    /// When the newest statement arrives, and the newest answer.
    private var sentAt: UInt64 = 0
    private var answeredAt: UInt64 = 0

    init(of candidate: Int) { self.candidate = candidate }

    /// - Returns: when it arrives.
    mutating func send(_ statement: Statement, arrival: UInt64) -> UInt64 {
        statements.append(statement)
        sentAt = max(sentAt, arrival)
        return sentAt
    }

    mutating func nextStatement() -> Statement? { statements.isEmpty ? nil : statements.removeFirst() }

    /// - Parameter isConfirmed: whether it may be told.
    /// - Returns: when it arrives; nil: not now.
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
    /// - Returns: when each of the answers that waited arrives.
    mutating func confirm(arrival: UInt64) -> [UInt64] {
        defer { unconfirmedCount = 0 }
        answeredAt = max(answeredAt, arrival)
        return Array(repeating: answeredAt, count: unconfirmedCount)
    }

    mutating func nextAnswer() -> Answer? { answers.isEmpty ? nil : answers.removeFirst() }

    /// The process hears nothing more. Some of what it has sent may still run.
    mutating func cut(running count: Int) {
        isCut = true
        (answers, unconfirmedCount) = ([], 0)
        statements = Array(statements.prefix(count))
    }

    var statementCount: Int { statements.count }
}
