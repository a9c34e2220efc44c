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
    private var events: [Seq: [UInt8]] = [:]
    private var states: [Seq: SlotState] = [:]
    private var noted = Seq.initial

    mutating func observe(_ observation: Observation) throws(Violation) {
        switch observation {
        case .began(let history):
            self = ObserversConverge(checkCount: checkCount)
            self.history = history
        case .journaled(_, .event(let record)):
            guard let event = try? SlotCoder().decode(SlotEvent.self, from: Array(record.bytes)) else { return }
            SlotLoop().reduce(&state, event, Transition(seq: record.seq, time: record.time, seed: history.value))
            seq = record.seq
            events[seq] = Array(record.bytes)
            states[seq] = state
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
            if shown != (seq == .initial ? SlotState() : states[seq]) {
                throw Violation(.observersConverge, "the state shown at \(seq) did not exist")
            }
            states = states.filter { $0.key >= seq }
        case .transitions(let notes):
            for note in notes {
                checkCount += 1
                if events.removeValue(forKey: note.seq) != note.event {
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
