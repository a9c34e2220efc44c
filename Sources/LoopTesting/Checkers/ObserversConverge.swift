import LoopCluster
import LoopCore
import LoopWire

/// G9: an observer is shown no state that did not exist, and every transition in order.
struct ObserversConverge: Counting {
    static let promise = Promise.observersConverge
    private(set) var checkCount = 0
    private var events: [Seq: ArraySlice<UInt8>] = [:]
    private var noted = Seq.initial

    init(checkCount: Int = 0) { self.checkCount = checkCount }

    mutating func observe<Work>(
        _ observation: Observation, _ model: inout LoopModel<Work>, _ work: Work
    ) throws(Violation) {
        switch observation {
        case .began: self = ObserversConverge(checkCount: checkCount)
        case .journaled(let journaled):
            guard case .event(let record) = journaled.record else { return }
            events[record.seq] = record.bytes
        case .left(.publish(_, let frame)): try check(frame.message, &model, work)
        default: break
        }
    }

    private mutating func check<Work>(
        _ message: ToPeer, _ model: inout LoopModel<Work>, _ work: Work
    ) throws(Violation) {
        switch message {
        case .update(let seq, let bytes):
            checkCount += 1
            let shown = try? work.coder.decode(Work.Definition.State.self, from: bytes)
            guard let shown, let state = model.state(at: seq), work.areEqual(shown, state) else {
                throw Violation(.observersConverge, "the state shown at \(seq) did not exist")
            }
            model.forget(before: seq)
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
