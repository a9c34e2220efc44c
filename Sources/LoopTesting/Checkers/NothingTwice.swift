import LoopCluster
import LoopCore
import LoopWire

/// G4: no entry is consumed twice in a journal, and none is applied twice at all.
struct NothingTwice: Checker {
    static let promise = Promise.nothingTwice
    private(set) var checkCount = 0
    private var book = EntryBook()
    private var consumed: Set<UInt64> = []
    private var applied: Set<UInt64> = []
    private var events: Set<UInt64> = []

    mutating func observe(_ observation: Observation) throws(Violation) {
        _ = book.note(observation)
        switch observation {
        case .began: consumed = []
        case .journaled(let history, let record):
            if case .event(let event) = record { try noteEvent(event) }
            guard let (session, number) = record.entry, let entry = book.entry(history, session, number) else {
                return
            }
            checkCount += 1
            if !consumed.insert(entry.id).inserted {
                throw Violation(.nothingTwice, "\(entry.kind) #\(entry.id) was consumed a second time: \(record)")
            }
            if case .refused = record { return }
            if !applied.insert(entry.id).inserted {
                throw Violation(.nothingTwice, "\(entry.kind) #\(entry.id) was applied a second time: \(record)")
            }
        default: break
        }
    }

    /// The event's own id, read from its bytes.
    private mutating func noteEvent(_ record: EventRecord) throws(Violation) {
        guard let event = try? SlotCoder().decode(SlotEvent.self, from: Array(record.bytes)) else {
            throw Violation(.nothingTwice, "event \(record.seq) cannot be read")
        }
        if !events.insert(event.id).inserted {
            throw Violation(.nothingTwice, "the event \(event) was applied a second time, at \(record.seq)")
        }
    }
}
