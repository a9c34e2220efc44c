import LoopCore
import LoopWire

/// The history and epoch that an observer follows, of those that it receives. (Protocol, section 8.)
///
///     none ── any ──▶ followed ── a newer epoch, or a history that was not left ──▶ followed
///                        └── silence, while a known history or an older epoch goes on and on ──▶ that is followed
struct FollowedEpoch: Sendable {
    private(set) var history = History.none
    private(set) var epoch = Epoch.none
    /// The histories whose frames may still arrive, over older connections.
    private var left = LeftHistories()
    /// How long nothing of this history has come, without the times in which this process was suspended.
    private var silence = Duration.zero
    private var knock: Knock?

    /// An epoch of a known history whose frames come while the followed one is silent.
    private struct Knock {
        let history: History
        let epoch: Epoch
        let since: MonotonicTime
        var framesCount: Int
    }

    /// After this silence, a history that the observer has left may be current again: that of a restored journal.
    private static var silenceLimit: Duration { .seconds(10) }
    private static var knockLimit: Duration { .seconds(5) }
    /// How many frames it takes. A reducer ticks at least every second.
    private static var knocksMin: Int { 8 }

    /// The epoch of a frame, compared with the one that is followed.
    enum Verdict: Equatable {
        /// It is the one that was followed before.
        case same
        /// It is a newer epoch of this history, and is followed from here on.
        case newEpoch
        /// It is of another history, or an older epoch of this one, and is followed from here on.
        case other
        /// It is late, and dropped.
        case ignored
    }

    /// Takes note of a message of this history and epoch.
    mutating func hear(
        _ history: History, _ epoch: Epoch, at now: MonotonicTime, _ rules: BrokenRules
    ) -> Verdict {
        let isNewer = epoch.number >= self.epoch.number || rules.contains(.olderEpochsAreDropped)
        let verdict: Verdict
        if history == self.history, isNewer {
            verdict = epoch == self.epoch ? .same : .newEpoch
        } else {
            guard mayFollow(history, epoch, at: now, rules) else { return .ignored }
            if history != self.history { left.insert(self.history) }
            verdict = .other
        }
        (self.history, self.epoch) = (history, epoch)
        (silence, knock) = (.zero, nil)
        return verdict
    }

    /// Whether another history, or an older epoch, may be followed from here on. A known one is followed again if it keeps
    /// sending while nothing else comes for long. Then a journal was restored, or the followed frame was a late one of a
    /// history that ended before this observer began.
    private mutating func mayFollow(
        _ history: History, _ epoch: Epoch, at now: MonotonicTime, _ rules: BrokenRules
    ) -> Bool {
        let isKnown = history == self.history || left.contains(history)
        if !isKnown || rules.contains(.leftHistoriesStayLeft) { return true }
        guard silence >= Self.silenceLimit else { return false }
        guard var known = knock, known.history == history, known.epoch == epoch else {
            knock = Knock(history: history, epoch: epoch, since: now, framesCount: 1)
            return false
        }
        known.framesCount += 1
        knock = known
        return known.framesCount >= Self.knocksMin && now >= known.since + Self.knockLimit
    }

    /// Whether a message about the loop's end is of an epoch that is over. A peer on the same connection may know a newer or an
    /// older epoch.
    func hasLeft(_ end: HeardEnd) -> Bool {
        end.history == history ? end.epoch.number < epoch.number : left.contains(end.history)
    }

    /// Counts time in which nothing came. A longer time counts as one second, because this process was suspended.
    mutating func pass(_ time: Duration) { silence += min(time, .seconds(1)) }
}
