import LoopCluster
import LoopCore
import LoopWire

/// G3: every living sender learns the outcome of each entry, and the outcome agrees with the journal.
struct NothingLost: Checker {
    static let promise = Promise.nothingLost
    private(set) var checkCount = 0
    /// The outcome of each entry in the journal, by the entry's id.
    private var fates: [Int: EntryOutcome] = [:]
    /// The reasons for refusals in the journal, in words.
    private var details: [Int: String] = [:]
    private var told: Set<Int> = []
    /// The entries whose records the journal has lost.
    private var forgotten: Set<Int> = []
    private var dead: Set<Int> = []
    private var hasEndedStreams = false
    /// The sessions that a process has ended with a goodbye.
    private var left: Set<PeerSession> = []

    mutating func begin() { hasEndedStreams = true }

    mutating func die(_ peer: Int) { dead.insert(peer) }

    mutating func leave(_ session: PeerSession) { left.insert(session) }

    /// A goodbye may be read late. Then what is sent in its session afterwards is lost, and the sender cannot know.
    mutating func send(in session: PeerSession) throws(Violation) {
        checkCount += 1
        guard left.contains(session) else { return }
        throw Violation(
            .nothingLost, "entries are sent in session \(session.session), to which a process has said goodbye")
    }

    mutating func depart(_ peer: Int, _ book: EntryBook) throws(Violation) {
        try demandOutcomes(book) { $0 == peer }
    }

    mutating func settle(_ book: EntryBook) throws(Violation) {
        try demandOutcomes(book) { [dead] in !dead.contains($0) }
    }

    /// A sender may still receive the outcome that was true before the loss, or learn that it is unknown.
    mutating func lose(_ records: [JournaledRecord]) {
        hasEndedStreams = true
        for case let entry? in records.map(\.entry) { forgotten.insert(entry.id) }
    }

    private mutating func demandOutcomes(_ book: EntryBook, of isMeant: (Int) -> Bool) throws(Violation) {
        checkCount += 1
        for id in 1..<book.count + 1 where !told.contains(id) {
            guard let entry = book[id], isMeant(entry.peer) else { continue }
            throw Violation(.nothingLost, "no sender learned the outcome of \(describe(id, book))")
        }
    }

    mutating func follow(_ journaled: JournaledRecord) throws(Violation) {
        switch journaled.record {
        case .sessionRetired, .historyBegun: hasEndedStreams = true
        case .event, .refused, .completed, .skipped, .granted, .attemptEnded, .sessionOpened, .sessionOwned,
            .epochBegun, .definition, .stateHash, .stateMarked, .markHash, .quarantined, .operatorAction, .scheduled:
            break
        }
        guard let (session, number) = journaled.record.entry else { return }
        guard let entry = journaled.entry else {
            throw Violation(.nothingLost, "entry \(number) of session \(session) was never sent")
        }
        fates[entry.id] = journaled.record.outcome
        if case .refused(let refusal) = journaled.record { details[entry.id] = refusal.detail }
    }

    /// A sender learns the outcome of its entry.
    mutating func compare(
        _ id: Int, _ outcome: EntryOutcome, _ detail: String, _ isUnheard: Bool, _ book: EntryBook
    ) throws(Violation) {
        checkCount += 1
        told.insert(id)
        // A stream that ended with its history or session reports that the outcome is unknown.
        if outcome == .refused(.historyChanged), hasEndedStreams { return }
        // Once the loop has ended and no reducer answers, an entry that never left counts as refused.
        if outcome == .refused(.ended), isUnheard, !book.wasSent(id) { return }
        if forgotten.contains(id) { return }
        let fate = fates[id]
        let agrees =
            switch (outcome, fate) {
            case (.applied(let seq), .applied(let applied)):
                seq == applied || seq == .initial && book[id]?.wantsSeq != true
            case (.refused(let reason), .refused(let why)): reason == why
            case (.applied, .refused), (.refused, .applied), (_, nil): false
            }
        if !detail.isEmpty, detail != details[id] {
            throw Violation(
                .nothingLost,
                "a sender was told why \(describe(id, book)) was refused: \(detail); the journal says"
                    + " \(details[id] ?? "nothing")")
        }
        if !agrees {
            throw Violation(
                .nothingLost,
                "a sender was told \(outcome) of \(describe(id, book));"
                    + " the journal says \(fate.map { "\($0)" } ?? "nothing")")
        }
    }

    private func describe(_ id: Int, _ book: EntryBook) -> String {
        guard let entry = book[id] else { return "entry #\(id)" }
        return "\(entry.kind) #\(id) of peer \(entry.peer)\(entry.effect.map { ", effect \($0)" } ?? "")"
    }
}
