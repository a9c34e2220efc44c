import LoopWire

/// The output of a turn: records to append, and what may happen once they are durable.
struct TurnOutput: Sendable {
    var records = RecordLog()
    private(set) var messages: [Outbound] = []
    /// The sessions with consumed entries, in the order in which they are acknowledged.
    private(set) var acknowledgementsDue: [SessionID] = []
    private(set) var backgroundJobs: [BackgroundJob] = []
    var journalRequests: [JournalRequest] = []
    /// The routes of status requests. One report, as of the end of the turn, answers all.
    var statusDue: [Route] = []
    /// The news for people.
    var news: [ReducerNews] = []
    /// The events of the turn that are in a trace.
    var traced: [TracedEvent] = []
    /// Whether the loop has ended in this turn.
    var endsLoop = false

    // These continue from turn to turn.

    /// The history and epoch in the frames of messages.
    private var origin = (history: History.none, epoch: Epoch.none)
    private(set) var counters: [Counter: UInt64] = [:]
    private var jobsCount: UInt64 = 0

    // MARK: Records

    /// Every change of the journaled state, except by an event, goes through here: first the record, then its consequence.
    @discardableResult
    mutating func write(_ record: Record, to journaled: inout JournaledState) -> [LiveChange] {
        records.append(record)
        do {
            return try journaled.apply(record)
        } catch {
            preconditionFailure("a record that this machine made cannot be applied: \(record): \(error)")
        }
    }

    /// Writes a record of a hash of the present state, which changes nothing.
    mutating func writeHash(_ record: Record, to journaled: inout JournaledState) {
        records.append(record)
        journaled.countRecordOfHash()
    }

    // MARK: Messages

    /// Sends messages in the name of this epoch from here on.
    mutating func beginEpoch(_ epoch: Epoch, of history: History) { origin = (history, epoch) }

    /// Sends a message over ROUTER, to the sender of a request.
    mutating func reply(_ message: ToPeer, to route: Route, session: SessionID = .none) {
        messages.append(.reply(route, frame(message, session)))
    }

    /// Sends a message through a peer's inbox topic.
    mutating func send(_ message: ToPeer, to peer: PeerID, session: SessionID = .none) {
        messages.append(.inbox(peer, frame(message, session)))
    }

    /// Sends a message to all subscribers of a topic.
    mutating func publish(_ message: ToPeer, on topic: Topic) {
        messages.append(.publish(topic, frame(message, .none)))
    }

    private func frame(_ message: ToPeer, _ session: SessionID) -> PeerFrame {
        PeerFrame(history: origin.history, epoch: origin.epoch, session: session, message: message)
    }

    mutating func removeMessages(where shouldRemove: (Outbound) -> Bool) { messages.removeAll(where: shouldRemove) }

    // MARK: Acknowledgements

    /// Acknowledges a session's entries at the end of the turn. A duplicate is acknowledged too, because its sender did not get
    /// the first acknowledgement.
    mutating func owesAcknowledgement(to session: SessionID) {
        if acknowledgementsDue.last != session { acknowledgementsDue.append(session) }
    }

    mutating func forgetAcknowledgements() { acknowledgementsDue.removeAll(keepingCapacity: true) }

    // MARK: Other

    /// - Returns: the number of the work, which its result repeats.
    mutating func wish(for work: BackgroundJob.Work) -> UInt64 {
        jobsCount += 1
        backgroundJobs.append(BackgroundJob(epoch: origin.epoch, number: jobsCount, work: work))
        return jobsCount
    }

    mutating func count(_ counter: Counter, _ amount: UInt64 = 1) {
        if amount > 0 { counters[counter, default: 0] += amount }
    }

    /// Resets the output of a turn, after it was handed out.
    mutating func beginNextTurn() {
        // The next turn probably writes about as many bytes.
        let room = min(records.bytes.count, 1 << 20)
        records = RecordLog()
        records.reserve(room)
        messages.removeAll(keepingCapacity: true)
        backgroundJobs = []
        journalRequests = []
        if !statusDue.isEmpty { statusDue = [] }
        if !news.isEmpty { news = [] }
        if !traced.isEmpty { traced = [] }
        endsLoop = false
    }
}
