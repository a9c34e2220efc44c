import LoopCluster
import LoopCore
import LoopWire

/// G4: no entry is consumed twice in a journal, and none is applied twice at all.
struct NothingTwice: Checker {
    static let promise = Promise.nothingTwice
    private(set) var checkCount = 0
    /// By the ids of entries, and of the events in them.
    private var consumed: [Bool] = []
    private var applied: [Bool] = []
    private var events: [Bool] = []

    mutating func observe(_ observation: Observation, _ book: EntryBook) throws(Violation) {
        switch observation {
        case .began: consumed = []
        case .lost(let records):
            for record in records {
                if let entry = record.entry {
                    consumed.remove(entry.id)
                    applied.remove(entry.id)
                }
                if let event = record.event { events.remove(Int(event.id)) }
            }
        case .journaled(let journaled):
            if case .event(let record) = journaled.record { try noteEvent(journaled.event, at: record.seq) }
            guard let entry = journaled.entry else { return }
            checkCount += 1
            if !consumed.insert(entry.id) {
                throw Violation(
                    .nothingTwice, "\(entry.kind) #\(entry.id) was consumed a second time: \(journaled.record)")
            }
            switch journaled.record {
            case .refused, .quarantined: return
            default: break
            }
            if !applied.insert(entry.id) {
                throw Violation(
                    .nothingTwice, "\(entry.kind) #\(entry.id) was applied a second time: \(journaled.record)")
            }
        default: break
        }
    }

    /// The event's own id, read from its bytes.
    private mutating func noteEvent(_ event: SlotEvent?, at seq: Seq) throws(Violation) {
        guard let event else { throw Violation(.nothingTwice, "event \(seq) cannot be read") }
        if !events.insert(Int(event.id)) {
            throw Violation(.nothingTwice, "the event \(event) was applied a second time, at \(seq)")
        }
    }
}
