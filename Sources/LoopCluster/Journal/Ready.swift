public import LoopCore
public import LoopWire

/// What a turn of the reducer machine asks of its shell: append the records, then exchange the receipt for what may leave.
///
///     records ──▶ journal ──▶ receipt ──▶ `ReducerMachine.release` ──▶ Released
///
/// What depends on the records cannot be read from it: it comes out only by `release` (G7).
public struct Ready: ~Copyable, Sendable {
    /// The records to append, in order; empty where the turn has made none.
    public let records: RecordLog
    /// The number of the last record on which the turn depends.
    public let position: UInt64
    /// When the machine wants its next turn, if nothing arrives before.
    public let deadline: MonotonicTime
    /// The loop's end, once it has come.
    public let outcome: Outcome?
    /// Acknowledged records are missing: the machine serves nobody until it is told `beginHistory`.
    public let historyLost: HistoryLost?
    /// Whether its release needs the machine and the journal as they are at the end of this turn: no other turn begins before
    /// it is released. True of a turn that asks the journal, that a suspect has survived, of a lost history, and from the end on.
    public var isBarrier: Bool {
        !released.journalRequests.isEmpty || !survivors.isEmpty || historyLost != nil || outcome != nil
    }
    let released: Released
    /// Suspects that this turn has consumed.
    let survivors: [Suspect]

    /// The messages as a machine sends them that breaks G7; none that runs calls it.
    package var messagesWithoutReceipt: [Outbound] { released.messages }
}

/// What may happen once a turn's records are durable.
public struct Released: Sendable {
    /// In the order in which they leave.
    public var messages: [Outbound] = []
    /// Work on copies of the state for other threads; each result comes back by `ReducerCore.receive`.
    public var backgroundJobs: [BackgroundJob] = []
    /// What only the journal can answer; each answer comes back by `ReducerCore.answer`.
    public var journalRequests: [JournalRequest] = []
    /// What people may want to know; for the shell's log.
    public var news: [ReducerNews] = []
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
