public import LoopCore
import LoopWire

/// The loop's end, and when it is handed out.
extension ObserverMachine {
    /// How long the end waits for the last state. It is less than the time for which a reducer whose loop has ended waits for
    /// its peers.
    private var endLimit: Duration { .seconds(1) }

    /// Takes note that the loop has ended. The end is handed out after the last state, if that comes within a second.
    mutating func end(_ heard: HeardEnd, now: MonotonicTime) {
        pass(to: now)
        guard !loopEnd.isHeard, !followed.hasLeft(heard) else { return }
        // The peer may learn of a new epoch first, and a last seq counts only in its own epoch.
        _ = follows(heard.history, heard.epoch)
        loopEnd = .awaited(heard, by: self.now + endLimit)
        state.notice(heard.seq, at: self.now)
        advance(to: now)
    }

    /// Exchanges what is known of the end with a peer on the same connection. The peer leaves the loop only after the observer
    /// has handed out the last state. To be called before the peer's actions are taken.
    public mutating func share(with peer: inout PeerMachine, at now: MonotonicTime) {
        if let known = peer.ending { end(known, now: now) }
        if case .handedOut(let heard) = loopEnd { peer.end(heard) }
        peer.awaitsLastState = !hasEnded
        peer.endIfEmpty()
    }

    var hasEnded: Bool { if case .handedOut = loopEnd { true } else { false } }

    /// Whether the newest state that is known to exist was handed out.
    var isThere: Bool { !following.hasStates || state.isNewest }

    /// Hands out the end after the last state, and only once the state was not found to be wrong.
    mutating func endIfDue() {
        guard case .awaited(let heard, let limit) = loopEnd else { return }
        let mayEnd = actions.isEmpty && (isThere || breaks(.endsFollowTheLastState))
        guard mayEnd || now >= limit else { return }
        loopEnd = .handedOut(heard)
        actions.append(.ended(exitCode: heard.exitCode, text: heard.text))
    }
}
