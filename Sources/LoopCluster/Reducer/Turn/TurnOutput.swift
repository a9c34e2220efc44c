import LoopCore
import LoopWire

/// What a turn makes: records to journal, and what may happen once they are durable.
struct TurnOutput: Sendable {
    var records = RecordLog()
    private(set) var messages: [Outbound] = []
    /// Sessions of which entries were consumed, in the order in which they are acknowledged.
    private(set) var acknowledgementsDue: [SessionID] = []
    private(set) var backgroundJobs: [BackgroundJob] = []
    var journalRequests: [JournalRequest] = []
    /// Where the status was asked for: one report, which is of the end of the turn, answers all.
    var statusDue: [Route] = []
    /// For people.
    var news: [ReducerNews] = []
    /// Whether the loop has ended in this turn.
    var endsLoop = false

    // What goes on from turn to turn.

    /// In whose name messages are sent.
    private var origin = (history: History.none, epoch: Epoch.none)
    private(set) var counters: [Counter: UInt64] = [:]
    private var jobsCount: UInt64 = 0

    // MARK: Records

    /// Every change of the journaled state but an event goes through here: first the record, then its consequence.
    @discardableResult
    mutating func write(_ record: Record, to journaled: inout JournaledCore) -> [LiveChange] {
        records.append(record)
        do {
            return try journaled.apply(record)
        } catch {
            preconditionFailure("a record that this machine made cannot be applied: \(record): \(error)")
        }
    }

    /// Writes a record of a hash, which was made of this very state and changes nothing.
    mutating func writeHash(_ record: Record, to journaled: inout JournaledCore) {
        records.append(record)
        journaled.countRecordOfHash()
    }

    // MARK: Messages

    /// Messages are from this epoch from here on.
    mutating func beginEpoch(_ epoch: Epoch, of history: History) { origin = (history, epoch) }

    /// Over ROUTER, to where a request came from.
    mutating func reply(_ message: ToPeer, to route: Route, session: SessionID = .none) {
        messages.append(.reply(route, frame(message, session)))
    }

    /// Through a peer's inbox topic.
    mutating func send(_ message: ToPeer, to peer: PeerID, session: SessionID = .none) {
        messages.append(.inbox(peer, frame(message, session)))
    }

    /// To all who subscribe.
    mutating func publish(_ message: ToPeer, on topic: Topic) {
        messages.append(.publish(topic, frame(message, .none)))
    }

    private func frame(_ message: ToPeer, _ session: SessionID) -> PeerFrame {
        PeerFrame(history: origin.history, epoch: origin.epoch, session: session, message: message)
    }

    mutating func removeMessages(where shouldRemove: (Outbound) -> Bool) { messages.removeAll(where: shouldRemove) }

    // MARK: Acknowledgements

    /// A session's entries were consumed. A duplicate is acknowledged again too: its sender has not heard of the first time.
    mutating func owesAcknowledgement(to session: SessionID) {
        if acknowledgementsDue.last != session { acknowledgementsDue.append(session) }
    }

    mutating func forgetAcknowledgements() { acknowledgementsDue.removeAll(keepingCapacity: true) }

    // MARK: The rest

    /// - Returns: the number of the work, which its result carries.
    mutating func wish(for work: BackgroundJob.Work) -> UInt64 {
        jobsCount += 1
        backgroundJobs.append(BackgroundJob(epoch: origin.epoch, number: jobsCount, work: work))
        return jobsCount
    }

    mutating func count(_ counter: Counter, _ amount: UInt64 = 1) {
        if amount > 0 { counters[counter, default: 0] += amount }
    }

    /// What the turn has made is handed out.
    mutating func beginNextTurn() {
        // The next turn's records are about as many.
        let room = min(records.bytes.count, 1 << 20)
        records = RecordLog()
        records.reserve(room)
        messages.removeAll(keepingCapacity: true)
        backgroundJobs = []
        journalRequests = []
        if !statusDue.isEmpty { statusDue = [] }
        if !news.isEmpty { news = [] }
        endsLoop = false
    }
}
