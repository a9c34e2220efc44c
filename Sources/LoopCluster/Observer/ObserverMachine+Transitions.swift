import LoopCore
import LoopWire

/// Transitions for people.
extension ObserverMachine {
    mutating func show(_ notes: [TransitionNote]) {
        guard following.transitions, let first = notes.first, let last = notes.last else { return }
        // Behind `known` there is a next one, whatever number the reducer gave it.
        if let known = lastTransition, first.seq > known, first.seq > known.next {
            actions.append(.missed(known.next...Seq(first.seq.value - 1)))
        }
        let new = notes.filter { $0.seq > lastTransition ?? .initial }
        lastTransition = max(lastTransition ?? .initial, last.seq)
        if !new.isEmpty { actions.append(.transitions(new)) }
    }
}
