import LoopCluster
import LoopCore
import LoopWire

/// G2: an observer is first shown one state, and then only later ones. A history that it has left is never shown again. A late
/// observer is no exception: every observer is shown a state.
struct SnapshotComesFirst: Checker {
    static let promise = Promise.snapshotComesFirst
    private(set) var checkCount = 0
    /// The observers by their position among all processes.
    private var observers: [Int: Watching] = [:]
    /// The reducer's present history, which an observer may follow at any time.
    private var current = History.none

    private struct Watching {
        let states: Bool
        /// The histories, the newest last.
        var histories: [History] = []
        var shown: Seq?
        var noted: Seq?
        /// Whether the journal may have lost the state that it last showed, so that the next one may be older.
        var mayStepBack = false

        mutating func beginAnew() {
            shown = nil
            noted = nil
        }
    }

    mutating func begin(_ history: History) { current = history }

    mutating func follow(_ record: Record) {
        if case .historyBegun(let history, _) = record { current = history }
    }

    mutating func add(_ peer: Int, _ watched: SimulationPlan.Watched) {
        observers[peer] = Watching(states: watched.includesStates)
    }

    mutating func remove(_ peer: Int) { observers[peer] = nil }
    mutating func beginAnew(_ peer: Int) { observers[peer]?.beginAnew() }
    mutating func beginEpoch(_ peer: Int) {
        observers[peer]?.mayStepBack = true
        observers[peer]?.noted = nil
    }

    mutating func settle() throws(Violation) {
        for peer in observers.keys.sorted() { try demandState(peer) }
    }

    /// Checks that an observer was shown a state by now.
    mutating func demandState(_ peer: Int) throws(Violation) {
        guard let watching = observers[peer], watching.states else { return }
        checkCount += 1
        if watching.shown == nil { throw Violation(.snapshotComesFirst, "observer \(peer) shows no state") }
    }

    mutating func show(_ action: ObserverAction, _ history: History, _ peer: Int) throws(Violation) {
        guard var watching = observers[peer] else { return }
        defer { observers[peer] = watching }
        if watching.histories.last != history {
            if watching.histories.contains(history), history != current {
                throw Violation(.snapshotComesFirst, "observer \(peer) goes back to \(history), which it had left")
            }
            watching.histories.append(history)
            watching.beginAnew()
        }
        switch action {
        case .state(let seq, _):
            checkCount += 1
            if let shown = watching.shown, seq <= shown, !watching.mayStepBack {
                throw Violation(
                    .snapshotComesFirst, "observer \(peer) shows the state at \(seq) after the one at \(shown)")
            }
            watching.shown = seq
            watching.mayStepBack = false
        case .transitions(let notes):
            for note in notes {
                checkCount += 1
                if let noted = watching.noted, note.seq <= noted {
                    throw Violation(.snapshotComesFirst, "observer \(peer) shows transition \(note.seq) after \(noted)")
                }
                watching.noted = note.seq
            }
        // The state that was shown at this seq was wrong, and the observer has noticed. The checker of G9 covers that.
        case .again(let seq, _):
            checkCount += 1
            if watching.shown != seq {
                throw Violation(
                    .snapshotComesFirst, "observer \(peer) shows the state at \(seq) again, which it did not")
            }
        case .missed, .begins, .send, .ended, .refused, .standing, .chunk, .assembled, .delta, .hash: break
        }
    }
}
