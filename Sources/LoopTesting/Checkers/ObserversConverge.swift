import LoopCluster
import LoopCore
import LoopWire

/// G9: every state that is published or shown is the one that the events up to its seq make; of transitions, everyone is shown
/// or told to be missed; and when all has settled, every observer has come to the newest state.
struct ObserversConverge<Work: Workload>: Counting {
    static var promise: Promise { .observersConverge }
    private(set) var checkCount = 0

    private let work: Work
    /// Journals that are gone, and parts of them that were lost: frames about them may still be under way.
    private var gone: [Chronicle<Work.Definition>] = []
    /// By the observer's position among all processes.
    private var observers: [Int: Watching] = [:]
    /// What was published last: most of it is shown later.
    private var published: (history: History, seq: Seq, bytes: [UInt8]) = (.none, .initial, [])

    private struct Watching {
        let states: Bool
        var history = History.none
        var shown: Seq?
        /// The next transition that is to be shown or missed; nil: any.
        var next: Seq?
    }

    init(_ work: Work) { self.work = work }

    mutating func observe(_ observation: Observation, _ model: LoopModel<Work>) throws(Violation) {
        switch observation {
        case .began: if !observers.isEmpty { gone.append(model.chronicle) }
        case .left(.publish(_, let frame)): try check(frame, model)
        case .watches(let peer, let states): observers[peer] = Watching(states: states)
        case .died(let peer): observers[peer] = nil
        case .shown(let peer, let history, let action): try check(action, history, peer, model)
        case .settled: try demandNewest(model)
        default: break
        }
    }

    // MARK: What the reducer publishes

    private mutating func check(_ frame: PeerFrame, _ model: LoopModel<Work>) throws(Violation) {
        switch frame.message {
        case .update(let seq, let bytes):
            checkCount += 1
            guard seq <= model.seq, isState(bytes, at: seq, in: model.chronicle) else {
                throw Violation(.observersConverge, "the state published at \(seq) did not exist")
            }
            published = (frame.history, seq, bytes)
        case .transitions(let notes):
            for note in notes {
                checkCount += 1
                guard Self.tells(note, of: model.chronicle) else {
                    throw Violation(.observersConverge, "the transition published at \(note.seq) is not the journal's")
                }
            }
        default: break
        }
    }

    private func isState(_ bytes: [UInt8], at seq: Seq, in chronicle: Chronicle<Work.Definition>) -> Bool {
        guard let state = chronicle.state(at: seq) else { return false }
        guard let shown = try? work.coder.decode(Work.Definition.State.self, from: bytes) else { return false }
        return work.areEqual(shown, state)
    }

    private static func tells(_ note: TransitionNote, of chronicle: Chronicle<Work.Definition>) -> Bool {
        guard let record = chronicle.record(at: note.seq) else { return false }
        return note.event[...] == record.bytes && note.time == record.time && note.session == record.session
            && note.effect == record.effect
    }

    // MARK: What an observer shows

    private mutating func check(
        _ action: ObserverAction, _ history: History, _ peer: Int, _ model: LoopModel<Work>
    ) throws(Violation) {
        guard var watching = observers[peer] else { return }
        defer { observers[peer] = watching }
        if watching.history != history {
            watching.history = history
            watching.shown = nil
            watching.next = nil
        }
        switch action {
        case .state(let seq, let bytes):
            checkCount += 1
            watching.shown = seq
            if published == (history, seq, bytes) { return }
            let existed = chronicles(of: history, model).contains { isState(bytes, at: seq, in: $0) }
            if !existed {
                throw Violation(.observersConverge, "observer \(peer) shows a state at \(seq) that did not exist")
            }
        case .transitions(let notes):
            for note in notes {
                checkCount += 1
                try demand(watching.next ?? note.seq, is: note.seq, "shows transition", peer)
                watching.next = note.seq.next
                if !chronicles(of: history, model).contains(where: { Self.tells(note, of: $0) }) {
                    throw Violation(
                        .observersConverge, "observer \(peer) shows a transition \(note.seq) that was another")
                }
            }
        case .missed(let seqs):
            checkCount += 1
            guard let next = watching.next else {
                throw Violation(.observersConverge, "observer \(peer) has missed \(seqs) before it was shown any")
            }
            try demand(next, is: seqs.lowerBound, "has missed", peer)
            watching.next = seqs.upperBound.next
        case .send, .ended, .standing: break
        }
    }

    private func demand(_ next: Seq, is seq: Seq, _ what: String, _ peer: Int) throws(Violation) {
        if next != seq {
            throw Violation(.observersConverge, "observer \(peer) \(what) \(seq), and \(next) is the next")
        }
    }

    /// The journals that tell of a history, the newest first.
    private func chronicles(of history: History, _ model: LoopModel<Work>) -> [Chronicle<Work.Definition>] {
        ([model.chronicle] + gone.reversed()).filter { $0.histories.contains(history) }
    }

    // MARK: When all has settled

    /// What an observer lacks; nil: nothing.
    func lacks(_ peer: Int, _ model: LoopModel<Work>) -> String? {
        guard let watching = observers[peer], watching.states else { return nil }
        let history = model.chronicle.histories[model.chronicle.histories.count - 1]
        guard watching.history == history, let shown = watching.shown else {
            return "shows nothing of the newest history"
        }
        // What it saw of events that are lost may have been newer.
        if shown > model.seq, gone.contains(where: { $0.histories.contains(history) }) { return nil }
        return shown == model.seq ? nil : "shows the state at \(shown), and \(model.seq) is the newest"
    }

    private mutating func demandNewest(_ model: LoopModel<Work>) throws(Violation) {
        for peer in observers.keys.sorted() {
            checkCount += 1
            if let lack = lacks(peer, model) {
                throw Violation(.observersConverge, "observer \(peer) \(lack)")
            }
        }
    }
}
