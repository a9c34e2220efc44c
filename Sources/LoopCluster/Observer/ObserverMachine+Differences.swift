import LoopCore
import LoopWire

/// What builds on the state before: deltas, events, and that a section has not changed.
extension ObserverMachine {
    /// How many bytes of deltas may wait for a state, however large it is.
    private var waitingBytesMax: Int { 256 << 20 }

    mutating func take(_ delta: StateDelta) {
        guard following.fingerprint == nil, following.dependsOnTheLast else { return }
        newest = max(newest, delta.seq)
        let fetched = min(fetch?.byteCount ?? 0, waitingBytesMax)
        waiting.add(delta, bytesMax: max(Waiting.bytesMax, fetched))
        useWaiting()
        review()
    }

    mutating func take(_ notes: [TransitionNote]) {
        guard let last = notes.last else { return }
        newest = max(newest, last.seq)
        waiting.add(notes)
        useWaiting()
        review()
    }

    /// Hands out what follows the state that is here; what does not has to wait for what is between.
    mutating func useWaiting() {
        guard content != nil else { return }
        while let content, let delta = waiting.next(after: content, anyBase: breaks(.deltasApplyToTheirBase)) {
            actions.append(.delta(delta.seq, hash: delta.hash, delta.bytes))
            if let value = delta.hash { hash = (delta.seq, value) }
            reach(delta.seq...delta.seq)
        }
        if let content { handOut(waiting.notes(after: content.upperBound)) }
        lack = waiting.isEmpty ? nil : following.fingerprint == nil ? .state : .events
        if lack != nil { askIfDue() }
    }

    mutating func handOut(_ notes: [TransitionNote]) {
        guard let last = notes.last else { return }
        actions.append(.events(history, notes))
        reach(last.seq...last.seq)
    }

    /// A section has not changed.
    mutating func keep(_ seqs: ClosedRange<Seq>) {
        guard following.hasStates, following.fingerprint == nil else { return }
        newest = max(newest, seqs.upperBound)
        guard let content else { return }
        if content.overlaps(seqs) {
            self.content =
                min(content.lowerBound, seqs.lowerBound)...max(content.upperBound, seqs.upperBound)
            shown = max(shown ?? .initial, seqs.upperBound)
            useWaiting()
        } else if seqs.lowerBound > content.upperBound {
            lack = .state
            askIfDue()
        }
        review()
    }
}
