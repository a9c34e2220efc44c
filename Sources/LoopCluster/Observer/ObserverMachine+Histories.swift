import LoopCore
import LoopWire

/// Which history and epoch it follows, of those that are heard.
extension ObserverMachine {
    /// After so long a silence a history that was left may be the present one again: that of a journal that was put back.
    private var silenceLimit: Duration { .seconds(10) }
    private var knockLimit: Duration { .seconds(5) }
    /// A reducer ticks at least every second.
    private var knocksMin: Int { 8 }

    /// Whether a frame is of the history and epoch that this observer follows, which may be newer ones from here on.
    mutating func follows(_ frame: PeerFrame) -> Bool {
        if frame.history == history && (frame.epoch.number >= epoch.number || breaks(.olderEpochsAreDropped)) {
            // Transfers are numbered by each reducer process for itself.
            if frame.epoch != epoch && !breaks(.transfersEndWithTheirEpoch) { fetch = nil }
            // The journal may have lost the events of what was shown last: nothing is built on it.
            if frame.epoch != epoch && following.dependsOnTheLast && !breaks(.epochsBeginWithAState) { begin() }
            // Nor is it waited for what it may have lost.
            if frame.epoch != epoch { (newest, behindSince) = (content?.upperBound ?? .initial, nil) }
            if frame.epoch != epoch { forgetEnd() }
            epoch = frame.epoch
        } else {
            guard mayFollow(frame) else { return false }
            if frame.history != history { leave() }
            history = frame.history
            epoch = frame.epoch
            shown = nil
            newest = .initial
            behindSince = nil
            begin()
            lastTransition = nil
            forgetEnd()
        }
        silence = .zero
        knock = nil
        return true
    }

    /// Whether another history, or an older epoch, may be followed from here on. What is known comes back if nothing else is
    /// heard for long, and it goes on and on: a journal was put back, or what was followed is a late frame of a history that
    /// was over before this observer began.
    private mutating func mayFollow(_ frame: PeerFrame) -> Bool {
        let isKnown = frame.history == history || left.contains(frame.history)
        if !isKnown || breaks(.leftHistoriesStayLeft) { return true }
        guard silence >= silenceLimit else { return false }
        let origin = (history: frame.history, epoch: frame.epoch)
        guard let known = knock, known.origin == origin else {
            knock = (origin, now, count: 1)
            return false
        }
        knock?.count += 1
        return known.count + 1 >= knocksMin && now >= known.since + knockLimit
    }

    private mutating func leave() {
        guard history != .none, !left.contains(history) else { return }
        left = left.suffix(15) + [history]
    }

    private mutating func begin() {
        forgetState()
        waiting.removeAll()
        if following.dependsOnTheLast { nextRequest = now }
    }
}
