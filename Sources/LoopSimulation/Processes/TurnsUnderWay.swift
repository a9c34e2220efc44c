import LoopCluster
import LoopCore

/// Turns whose records are on their way to the journal, the oldest first. They are released in their order. A turn without records
/// waits for the earlier ones, because its messages may depend on them.
struct TurnsUnderWay {
    private var turns: [TurnUnderWay] = []
    /// The time at which the last append is written. Appends are written one behind the other.
    private var writtenAt: UInt64 = 0
    /// Whether the next turn must wait until all of these have been released.
    var mustRest = false

    var isEmpty: Bool { turns.isEmpty }
    var count: Int { turns.count }
    var first: TurnUnderWay? { turns.first }
    var all: [TurnUnderWay] { turns }

    /// The records that an end of the process may lose, in part or as a whole.
    var records: [Record] { turns.flatMap(\.records) }

    /// Whether another turn may begin. The turn after a barrier waits for all before it, and so does a turn that a snapshot must
    /// contain.
    /// - Parameter countMax: the largest number of turns.
    func mayBegin(_ countMax: Int) -> Bool {
        isEmpty || count < countMax && !mustRest && !turns.contains(where: \.isBarrier)
    }

    mutating func append(_ turn: TurnUnderWay) { turns.append(turn) }

    /// Writes the records of the newest turn at this time, or with earlier ones that are written later.
    /// - Returns: the time at which they are written.
    mutating func write(at time: UInt64) -> UInt64 {
        writtenAt = max(writtenAt, time)
        return writtenAt
    }

    mutating func removeFirst() -> TurnUnderWay? {
        if turns.isEmpty { return nil }
        if turns.count == 1 { mustRest = false }
        return turns.removeFirst()
    }
}

/// One turn whose records are on their way to the journal.
final class TurnUnderWay {
    let records: [Record]
    /// The number of the last record on which it depends.
    let position: UInt64
    let outcome: Outcome?
    let historyLost: HistoryLost?
    /// Whether the next turn needs the machine as this one has left it, and its records in the journal.
    let isBarrier: Bool
    let moment: TurnMoment
    let log: RecordLog
    /// Whether a machine of this term has made it.
    let isOfMachine: Bool
    /// The number of the journal's answers that it waits for.
    var awaits = 0
    /// Its records in the form in which a database appends them, and the end of the journal behind them.
    var batch: SimulatedBatch?
    var end = RowEnd.start
    private var ready: Ready?
    /// Whether its messages have left, which must not happen before its receipt.
    var hasLeft = false

    init(_ ready: consuming Ready, at moment: TurnMoment) {
        log = ready.records
        records = Array(log)
        position = ready.position
        outcome = ready.outcome
        historyLost = ready.historyLost
        isBarrier = ready.isBarrier
        isOfMachine = true
        self.moment = moment
        self.ready = consume ready
    }

    /// A turn of records from an earlier term, which got no receipt in it. No message waits for their receipt.
    init(of records: ArraySlice<Record>, through position: UInt64, at moment: TurnMoment) {
        log = RecordLog(records)
        self.records = Array(records)
        self.position = position
        (outcome, historyLost, isBarrier, isOfMachine) = (nil, nil, false, false)
        self.moment = moment
    }

    /// The messages as a machine sends them that breaks G7.
    var messagesWithoutReceipt: [Outbound] {
        switch ready {
        case .some(let ready): ready.messagesWithoutReceipt
        case nil: []
        }
    }

    /// Takes what the machine needs back for the receipt, or nil if the machine already has it.
    func takeReady() -> Ready? { ready.take() }
}
