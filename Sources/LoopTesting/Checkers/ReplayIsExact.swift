import LoopCluster
import LoopCore
import LoopWire

/// G8: the journal's records, decoded from their bytes into a second state, give what the reducer holds.
struct ReplayIsExact: Checker {
    static let promise = Promise.replayIsExact
    private(set) var checkCount = 0
    private var shadow: JournaledState<SlotLoop>?

    mutating func observe(_ observation: Observation, _ book: EntryBook) throws(Violation) {
        switch observation {
        case .began(let history):
            shadow = JournaledState(definition: SlotLoop(), coder: SlotCoder(), history: history)
        case .journaled(let journaled):
            do {
                try shadow?.apply(journaled.record)
            } catch {
                throw Violation(.replayIsExact, "\(journaled.record) cannot be replayed: \(error)")
            }
        default: break
        }
    }

    /// - Parameter wholly: compares effects and sessions too.
    mutating func compare(_ live: JournaledState<SlotLoop>, wholly: Bool) throws(Violation) {
        guard let shadow else { return }
        checkCount += 1
        guard live.seq == shadow.seq, live.state == shadow.state, live.epoch == shadow.epoch else {
            throw differ(live, shadow)
        }
        guard wholly else { return }
        guard live.history == shadow.history, live.time == shadow.time, live.effects == shadow.effects,
            live.nextSession == shadow.nextSession, live.sessions.count == shadow.sessions.count,
            live.sessions.allSatisfy({ shadow.sessions[$0.key]?.watermark == $0.value.watermark })
        else { throw differ(live, shadow) }
    }

    private func differ(_ live: JournaledState<SlotLoop>, _ replayed: JournaledState<SlotLoop>) -> Violation {
        Violation(.replayIsExact, "the reducer holds \(summary(live)), its journal gives \(summary(replayed))")
    }

    private func summary(_ core: JournaledState<SlotLoop>) -> String {
        let effects = core.effects.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let watermarks = core.sessions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.watermark)" }
        return
            "seq \(core.seq) of \(core.history), epoch \(core.epoch), \(core.state), effects [\(effects.joined(separator: ", "))],"
            + " watermarks [\(watermarks.joined(separator: ", "))]"
    }
}
