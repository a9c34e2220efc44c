import LoopCluster
import LoopCore
import LoopWire

/// G8: the journal's records, decoded from their bytes into a second state, give what the reducer holds.
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
        default: break
        }
    }
}
