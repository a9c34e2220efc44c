import LoopCluster
import LoopCore
import LoopWire

/// G8: the journal's records, decoded from their bytes into a second state, give what the reducer holds; also where that
/// second state was written to a snapshot now and then, and went on from there.
struct ReplayIsExact: Checker {
    static let promise = Promise.replayIsExact
    private(set) var checkCount = 0
    private var shadow: JournaledState<SlotLoop>?

    mutating func observe(_ observation: Observation) throws(Violation) {
        switch observation {
        case .began(let history):
            shadow = JournaledState(definition: SlotLoop(), coder: SlotCoder(), history: history)
        case .journaled(_, let record):
            do {
                try shadow?.apply(record)
            } catch {
                throw Violation(.replayIsExact, "\(record) cannot be replayed: \(error)")
            }
        case .rested(let live):
            guard let shadow else { return }
            checkCount += 1
            let replayed = ReducerSummary(shadow)
            if replayed != live {
                throw Violation(
                    .replayIsExact, "the reducer holds \(live), its journal gives \(replayed)")
            }
            if checkCount.isMultiple(of: 32) { try restore(shadow) }
        default: break
        }
    }

    private mutating func restore(_ written: JournaledState<SlotLoop>) throws(Violation) {
        do {
            let document = try written.snapshot()
            let restored = try JournaledState(restoring: document, definition: SlotLoop(), coder: SlotCoder())
            let differences = try restored.differences(from: written)
            guard differences.isEmpty, try restored.snapshot() == document else {
                throw Violation(.replayIsExact, "a snapshot gives other \(differences.joined(separator: ", "))")
            }
            shadow = restored
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation(.replayIsExact, "\(written.seq): \(error)")
        }
    }
}
