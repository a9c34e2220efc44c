public import LoopCore
import LoopWire

/// The loop's end, and when it is handed out.
extension ObserverMachine {
    /// How long the end waits for the last state: less than the reducer of a loop that has ended waits for who leaves.
    private var endLimit: Duration { .seconds(1) }

    /// The loop has ended. This is handed out behind its last state, where that can be had within a second.
    mutating func end(_ heard: HeardEnd, now: MonotonicTime) {
        pass(to: now)
        // A peer on the same connection may know of a newer epoch, or of an older one.
        let isOlder = heard.history == history ? heard.epoch.number < epoch.number : left.contains(heard.history)
        guard ending == nil, !isOlder else { return }
        ending = (heard, by: self.now + endLimit)
        newest = max(newest, heard.seq)
        review()
        advance(to: now)
    }

    /// What a peer on the same connection knows of the end, it knows too; and the loop is not left, nor its reducer let go,
    /// before it has handed out the last state. To be called before the peer's wishes are taken.
    public mutating func share(with peer: inout PeerMachine, at now: MonotonicTime) {
        if let known = peer.ending { end(known, now: now) }
        // It has been told to people, and is not taken back.
        if hasEnded, let known = ending?.heard { peer.end(known) }
        peer.awaitsLastState = !hasEnded
        peer.endIfEmpty()
    }

    /// Whether the newest state that is known to exist was handed out.
    var isThere: Bool {
        !following.hasStates || content.map { $0.upperBound >= newest } ?? false && lack == nil
    }

    /// Hands out the end behind the last state, and only once nobody has found that it does not fit.
    mutating func endIfDue() {
        let mayEnd = actions.isEmpty && (isThere || breaks(.endsFollowTheLastState))
        if let ending, !hasEnded, mayEnd || now >= ending.by {
            hasEnded = true
            actions.append(.ended(exitCode: ending.heard.exitCode, text: ending.heard.text))
        }
    }

    /// The journal may have lost it: if not, it is said again.
    mutating func forgetEnd() { if !hasEnded { ending = nil } }
}
