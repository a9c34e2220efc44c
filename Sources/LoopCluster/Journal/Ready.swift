public import LoopCore
public import LoopWire

/// What a turn of the reducer machine asks of its shell: append the records, then send the messages.
///
///     records ──▶ journal ──▶ receipt ──▶ release ──▶ messages
///
/// Messages come out only in exchange for a receipt that covers everything they depend on (G7).
public struct Ready: ~Copyable {
    public let records: RecordLog
    /// The number of the last record on which the messages depend.
    public let position: UInt64
    /// When the machine wants its next turn, if nothing arrives before.
    public let deadline: MonotonicTime
    /// The loop's end, once it has come.
    public let outcome: Outcome?
    /// Acknowledged records are missing: the machine serves nobody until it is told `beginHistory`.
    public let historyLost: HistoryLost?
    private let messages: [Outbound]

    init(
        records: RecordLog, position: UInt64, deadline: MonotonicTime, outcome: Outcome?, historyLost: HistoryLost?,
        messages: [Outbound]
    ) {
        self.records = records
        self.position = position
        self.deadline = deadline
        self.outcome = outcome
        self.historyLost = historyLost
        self.messages = messages
    }

    /// The messages, in the order in which they leave.
    public consuming func release(_ receipt: JournalReceipt) -> [Outbound] {
        precondition(
            receipt.position >= position,
            "messages that depend on record \(position) were to leave on a receipt through \(receipt.position)")
        return messages
    }
}

/// One message of the reducer and where it goes.
public enum Outbound: Equatable, Sendable {
    /// On the peer's own topic.
    case inbox(PeerID, PeerFrame)
    /// Over ROUTER, to where a request came from.
    case reply(Route, PeerFrame)
    /// To all who subscribe.
    case publish(Topic, PeerFrame)
}

/// How the reducer answers a peer's requests.
public enum Route: Hashable, Sendable {
    /// The routing id that the ROUTER socket gave to the connection.
    case router([UInt8])
    /// The peer that lives in the reducer's own process.
    case local
}
