import LoopCluster
import LoopCore
import LoopWire

/// G11: an event that ends the process does so twice at most, and is then set aside; nothing is set aside that did not
/// end it twice. Once set aside it ends the process again only where an operator asks for it, once for each time.
struct PoisonIsSetAside: Checker {
    static let promise = Promise.poisonIsSetAside
    private(set) var checkCount = 0
    /// By the event's id.
    private var cases: [UInt64: Case] = [:]

    private struct Case {
        /// How often the process ended in it while it was to be applied as it came.
        var ends = 0
        var isAside = false
        /// How often it was asked for and has not ended the process since.
        var retries = 0
    }

    mutating func observe(_ observation: Observation, _ book: EntryBook) throws(Violation) {
        switch observation {
        case .trapped(let event, let isItsFault): try end(in: event, isItsFault)
        case .retried(let event): cases[event.id, default: Case()].retries += 1
        case .journaled(let journaled): try journal(journaled)
        case .lost(let records):
            for case .quarantined(let record) in records.map(\.record) {
                if let event = SlotEvent(record.bytes) { cases[event.id] = nil }
            }
        default: break
        }
    }

    private mutating func end(in event: SlotEvent, _ isItsFault: Bool) throws(Violation) {
        checkCount += 1
        var known = cases[event.id] ?? Case()
        defer { cases[event.id] = known }
        if known.isAside {
            known.retries -= 1
            if known.retries < 0 {
                throw Violation(.poisonIsSetAside, "the process ended in \(event), which was set aside")
            }
        } else {
            known.ends += 1
            if isItsFault, known.ends > 2 {
                throw Violation(.poisonIsSetAside, "the process ended in \(event) for the \(known.ends). time")
            }
        }
    }

    private mutating func journal(_ journaled: JournaledRecord) throws(Violation) {
        guard case .quarantined(let record) = journaled.record else { return }
        checkCount += 1
        guard let event = SlotEvent(record.bytes) else {
            throw Violation(.poisonIsSetAside, "bytes are set aside that are no event: \(record)")
        }
        let ends = cases[event.id]?.ends ?? 0
        if ends < 2 {
            throw Violation(.poisonIsSetAside, "\(event) is set aside, and ended the process \(ends) times")
        }
        cases[event.id]?.isAside = true
    }
}
