import LoopCore
import LoopWire

/// What is handed out: whole states, and what builds on the one before.
extension ObserverMachine {
    /// How many bytes of deltas may wait for a state, however large it is.
    private var waitingBytesMax: Int { 256 << 20 }

    // MARK: Whole states

    mutating func show(_ seq: Seq, _ bytes: [UInt8]) {
        guard following.hasStates else { return }
        state.notice(seq, at: now)
        if state.isOld(seq) { return }
        requests.cameWhole()
        show(seq) { isAgain in isAgain ? .again(seq, bytes) : .state(seq, bytes) }
    }

    /// - Parameter action: makes the action that hands out the state, given whether it has the last state's seq.
    mutating func show(_ seq: Seq, _ action: (_ isAgain: Bool) -> ObserverAction) {
        actions.append(action(seq == state.shown))
        requests.endTransfer()
        state.begin(seq, at: now)
        useWaiting()
    }

    mutating func compare(_ seq: Seq, _ value: UInt64) {
        guard following.dependsOnTheLast, state.compares(ObservedState.SeqHash(seq: seq, value: value)) else { return }
        actions.append(.hash(seq, value))
    }

    // MARK: What builds on the state before

    mutating func take(_ delta: StateDelta) {
        guard following.dependsOnTheLast else { return }
        state.notice(delta.seq, at: now)
        waiting.add(delta, bytesMax: max(Waiting.bytesMax, min(requests.byteCount, waitingBytesMax)))
        useWaiting()
    }

    /// Takes note that a section has not changed.
    mutating func keep(_ seqs: ClosedRange<Seq>) {
        guard following.hasStates else { return }
        state.notice(seqs.upperBound, at: now)
        if state.extend(by: seqs, at: now) {
            useWaiting()
        } else if let content = state.seqs, seqs.lowerBound > content.upperBound {
            state.lacksBase = true
            askIfDue()
        }
    }

    /// Hands out the updates that follow the state. The others wait for those between, which are requested.
    mutating func useWaiting() {
        while let seqs = state.seqs, let delta = waiting.next(after: seqs, anyBase: breaks(.deltasApplyToTheirBase)) {
            actions.append(.delta(delta.seq, hash: delta.hash, delta.bytes))
            state.reach(delta.seq...delta.seq, at: now)
            if let value = delta.hash { _ = state.compares(ObservedState.SeqHash(seq: delta.seq, value: value)) }
        }
        state.lacksBase = !waiting.isEmpty
        if state.lacksBase { askIfDue() }
    }

    // MARK: Transitions for people

    mutating func show(_ notes: [TransitionNote]) {
        guard following.transitions, let first = notes.first, let last = notes.last else { return }
        endTransitions(at: Seq(first.seq.value &- 1))
        // `known` has a next seq, because a greater one exists.
        if let known = lastTransition, first.seq > known, first.seq > known.next {
            actions.append(.missed(known.next...Seq(first.seq.value - 1)))
        }
        let new = notes.filter { $0.seq > lastTransition ?? .initial }
        lastTransition = max(lastTransition ?? .initial, last.seq)
        if !new.isEmpty { actions.append(.transitions(new)) }
    }

    /// Takes note that a new epoch's journal ended at this seq or before. Transitions after it that were shown are lost.
    mutating func endTransitions(at seq: Seq) {
        guard mayHaveLostTransitions else { return }
        mayHaveLostTransitions = false
        lastTransition = lastTransition.map { min($0, seq) }
    }
}
