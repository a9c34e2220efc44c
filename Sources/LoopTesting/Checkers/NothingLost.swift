import LoopCluster
import LoopCore
import LoopWire

/// G3: what a sender is told of an entry is what the journal says, and every living sender is told.
struct NothingLost: Checker {
    static let promise = Promise.nothingLost
    private(set) var checkCount = 0
    private var book = EntryBook()
    private var fates: [UInt64: EntryOutcome] = [:]
    private var untold: [UInt64: Int] = [:]
    private var hasEndedStreams = false

    mutating func observe(_ observation: Observation) throws(Violation) {
        if !book.note(observation) {
            throw Violation(.nothingLost, "a number was given to a second entry: \(observation)")
        }
        switch observation {
        case .began: hasEndedStreams = true
        case .accepted(let entry): untold[entry.id] = entry.peer
        case .died(let peer): untold = untold.filter { $0.value != peer }
        case .journaled(let history, let record): try journal(history, record)
        case .told(let id, let outcome): try compare(id, outcome)
        case .settled:
            checkCount += 1
            if let id = untold.keys.min() {
                throw Violation(.nothingLost, "nobody was told what became of \(describe(id))")
            }
        default: break
        }
    }

    private mutating func journal(_ history: History, _ record: Record) throws(Violation) {
        if case .sessionRetired = record { hasEndedStreams = true }
        guard let (session, number) = record.entry else { return }
        guard let entry = book.entry(history, session, number) else {
            throw Violation(.nothingLost, "entry \(number) of session \(session) was never sent")
        }
        switch record {
        case .event(let event): fates[entry.id] = .applied(event.seq)
        case .refused(let refusal): fates[entry.id] = .refused(refusal.reason)
        default: fates[entry.id] = .applied(.initial)
        }
    }

    private mutating func compare(_ id: UInt64, _ outcome: EntryOutcome) throws(Violation) {
        checkCount += 1
        untold[id] = nil
        // A stream that ended with its history or its session leaves its sender without knowledge, and says so.
        if outcome == .refused(.historyChanged), hasEndedStreams { return }
        let fate = fates[id]
        let agrees =
            switch (outcome, fate) {
            case (.applied(let seq), .applied(let applied)):
                seq == applied || seq == .initial && book.entries[id]?.wantsSeq != true
            case (.refused(let reason), .refused(let why)): reason == why
            default: false
            }
        if !agrees {
            throw Violation(
                .nothingLost,
                "a sender was told \(outcome) of \(describe(id)); the journal says \(fate.map { "\($0)" } ?? "nothing")"
            )
        }
    }

    private func describe(_ id: UInt64) -> String {
        guard let entry = book.entries[id] else { return "entry #\(id)" }
        return "\(entry.kind) #\(id) of peer \(entry.peer)\(entry.effect.map { ", effect \($0)" } ?? "")"
    }
}
