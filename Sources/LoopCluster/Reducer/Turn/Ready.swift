import LoopCollections
package import LoopCore
package import LoopWire

/// The result of a turn of the reducer's machine for its shell. The shell appends the records, then exchanges the receipt for
/// what may leave.
///
///     records ──▶ journal ──▶ receipt ──▶ `ReducerMachine.release` ──▶ Released
///
/// What depends on the records is not accessible here. Only `release` returns it (G7).
package struct Ready: ~Copyable, Sendable {
    /// The records to append, in order; empty if the turn has made none.
    package let records: RecordLog
    /// The position of the last record on which the turn depends.
    package let position: UInt64
    /// When the machine needs its next turn, if nothing arrives before.
    package let deadline: MonotonicTime
    /// The loop's outcome, once it has ended.
    package let outcome: Outcome?
    /// What is known if acknowledged records are missing. The machine then serves no peer until the shell calls `beginHistory`.
    package let historyLost: HistoryLost?
    /// Whether the release needs the machine and the journal as they are at the end of this turn. If so, no other turn may
    /// begin before it. True of a turn that asks the journal, that a suspect has survived or that finds a lost history, and
    /// from the end on.
    package var isBarrier: Bool {
        !released.journalRequests.isEmpty || !survivors.isEmpty || historyLost != nil || outcome != nil
    }
    let released: Released
    /// The suspects that this turn has consumed.
    let survivors: [Suspect]

    /// The messages without a receipt, for a simulated machine that breaks G7. No other code uses it.
    package var messagesWithoutReceipt: [Outbound] { released.messages }
}

/// What may leave or begin once a turn's records are durable.
package struct Released: Sendable {
    /// The messages, in the order in which they leave.
    package var messages: [Outbound] = []
    /// Work on copies of the state for other threads. Each result comes back by `ReducerMachine.receive`.
    package var backgroundJobs: [BackgroundJob] = []
    /// Questions that only the journal can answer. Each answer comes back by `ReducerMachine.answer`.
    package var journalRequests: [JournalRequest] = []
    /// News for people, which the shell logs.
    package var news: [ReducerNews] = []
    /// The turn's events that are in a trace.
    package var traced: [TracedEvent] = []
}

/// An applied event that is in a trace.
package struct TracedEvent: Equatable, Sendable {
    package let record: EventRecord
    /// The place of the event's transition in the trace.
    package let trace: TraceContext
    /// The ID of the span that sent the event, or that set the timer which did.
    package let parent: UInt64

    init(_ record: EventRecord, in trace: TraceContext, of history: History) {
        (self.record, self.trace, parent) = (record, trace.applied(at: record.seq, of: history), trace.span)
    }
}

extension TraceContext {
    /// The place of the transition that an event with this context makes at a seq of a history: a function of these, so that a
    /// replay gives the effects that it starts the same place, and another loop gives its transitions others.
    func applied(at seq: Seq, of history: History) -> TraceContext {
        within(span: Mix.finish(span ^ Mix.finish(seq.value ^ Mix.finish(history.value))))
    }
}

/// One message of the reducer, and its destination.
package enum Outbound: Equatable, Sendable {
    /// To one peer, on its own topic.
    case inbox(PeerID, PeerFrame)
    /// To the sender of a request, over ROUTER.
    case reply(Route, PeerFrame)
    /// To all subscribers of a topic.
    case publish(Topic, PeerFrame)
}

/// The way by which the reducer answers a peer's requests.
package enum Route: Hashable, Sendable {
    /// The routing id that the ROUTER socket gave to the connection.
    case router([UInt8])
    /// The peer that lives in the reducer's own process.
    case local
}
