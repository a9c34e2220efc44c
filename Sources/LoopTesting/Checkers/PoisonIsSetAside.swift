import LoopCluster
import LoopCore
import LoopWire

/// G11: an event that ends the process does so twice at most, and is then set aside; nothing is set aside that did not
/// end it twice.
struct PoisonIsSetAside: Checker {
    static let promise = Promise.poisonIsSetAside
    private(set) var checkCount = 0
    /// How often the process ended in each event since it was last set aside, by the event's id.
    private var ends: [UInt64: Int] = [:]

    mutating func observe(_ observation: Observation, _ book: EntryBook) throws(Violation) {
        switch observation {
        case .trapped(let event, let isItsFault):
            checkCount += 1
            ends[event.id, default: 0] += 1
            if isItsFault, ends[event.id, default: 0] > 2 {
                throw Violation(.poisonIsSetAside, "the process ended in \(event) for the \(ends[event.id] ?? 0). time")
            }
        case .journaled(let journaled): try journal(journaled)
        default: break
        }
    }

    private mutating func journal(_ journaled: JournaledRecord) throws(Violation) {
        guard case .quarantined(let record) = journaled.record else { return }
        checkCount += 1
        guard let event = SlotEvent(record.bytes) else {
            throw Violation(.poisonIsSetAside, "bytes are set aside that are no event: \(record)")
        }
        if ends[event.id, default: 0] < 2 {
            throw Violation(
                .poisonIsSetAside, "\(event) is set aside, and ended the process \(ends[event.id] ?? 0) times")
        }
        // An operator may have it tried again, twice.
        ends[event.id] = 0
    }
}
