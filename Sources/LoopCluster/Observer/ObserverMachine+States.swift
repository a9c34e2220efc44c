import LoopCore
import LoopWire

/// Whole states, and how the one that was handed out last stands to what is known to exist.
extension ObserverMachine {
    mutating func notice(_ seq: Seq) {
        guard !breaks(.ticksShowGaps) else { return }
        newest = max(newest, seq)
        review()
    }

    /// Whether what is known to exist is here, and since when not.
    mutating func review() {
        if let content, content.upperBound >= newest {
            behindSince = nil
        } else if behindSince == nil {
            behindSince = now
        }
    }

    /// What was handed out is the state at these seqs.
    mutating func reach(_ seqs: ClosedRange<Seq>) {
        content = seqs
        shown = max(shown ?? .initial, seqs.upperBound)
        newest = max(newest, seqs.upperBound)
        behindSince = seqs.upperBound >= newest ? nil : now
    }

    /// Whether a state is older than what was handed out, or the same.
    func isOld(_ seq: Seq) -> Bool {
        if let content { return seq <= content.upperBound }
        return shown.map { seq < $0 } ?? false
    }

    mutating func show(_ seq: Seq, _ state: [UInt8]) {
        guard following.hasStates else { return }
        newest = max(newest, seq)
        if isOld(seq) { return }
        cameInChunks = false
        show(seq) { isAgain in isAgain ? .again(seq, state) : .state(seq, state) }
    }

    /// - Parameter action: what hands the state out, of the seq of the last one or of a newer one.
    mutating func show(_ seq: Seq, _ action: (_ isAgain: Bool) -> ObserverAction) {
        if following.fingerprint != nil, let shown, seq > shown, seq.value - shown.value > 1 {
            actions.append(.missed(shown.next...Seq(seq.value - 1)))
        }
        actions.append(action(seq == shown))
        fetch = nil
        hash = nil
        reach(seq...seq)
        useWaiting()
    }

    mutating func compare(_ seq: Seq, _ value: UInt64) {
        guard following.dependsOnTheLast, let content, content.contains(seq) else { return }
        if let hash, hash == (seq, value) { return }
        hash = (seq, value)
        actions.append(.hash(seq, value))
    }
}
