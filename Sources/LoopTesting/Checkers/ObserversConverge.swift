import LoopCluster
import LoopCore
import LoopWire

/// G9: an observer is shown no state that did not exist, and every transition in order.
struct ObserversConverge: Checker {
    static let promise = Promise.observersConverge
    private(set) var checkCount = 0
    private var state = SlotState()
    private var history = History.none
    private var seq = Seq.initial
    private var events: [Seq: ArraySlice<UInt8>] = [:]
    /// The states at `firstSeq` and after it.
    private var states = [SlotState()]
    private var firstSeq = Seq.initial
    private var noted = Seq.initial

    mutating func observe(_ observation: Observation, _ book: EntryBook) throws(Violation) {
        switch observation {
        case .began(let history):
            self = ObserversConverge(checkCount: checkCount)
            self.history = history
        case .journaled(let journaled):
            if case .historyBegun(let begun, _) = journaled.record { history = begun }
            guard case .event(let record) = journaled.record, let event = journaled.event else { return }
            SlotLoop().reduce(&state, event, Transition(seq: record.seq, time: record.time, seed: history.value))
            seq = record.seq
            events[seq] = record.bytes
            states.append(state)
        case .left(.publish(_, let frame)): try check(frame.message)
        default: break
        }
    }

    init(checkCount: Int = 0) { self.checkCount = checkCount }

    private mutating func check(_ message: ToPeer) throws(Violation) {
        switch message {
        case .update(let seq, let bytes):
            checkCount += 1
            let shown = try? SlotCoder().decode(SlotState.self, from: bytes)
            let index = Int(seq.value) - Int(firstSeq.value)
            guard states.indices.contains(index), shown == states[index] else {
                throw Violation(.observersConverge, "the state shown at \(seq) did not exist")
            }
            states.removeFirst(index)
            firstSeq = seq
        case .transitions(let notes):
            for note in notes {
                checkCount += 1
                if events.removeValue(forKey: note.seq) != note.event[...] {
                    throw Violation(.observersConverge, "the event shown at \(note.seq) is not the journal's")
                }
                if note.seq <= noted {
                    throw Violation(.observersConverge, "transition \(note.seq) was shown after \(noted)")
                }
                noted = note.seq
            }
        default: break
        }
    }
}
