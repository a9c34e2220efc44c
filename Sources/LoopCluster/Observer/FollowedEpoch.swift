import LoopCore
import LoopWire

/// Which history and epoch an observer follows, of those that it hears. (Protocol, section 8.)
///
///     none ── any ──▶ followed ── a newer epoch, or a history that was not left ──▶ followed
///                        └── silence, while a known history or an older epoch goes on and on ──▶ that is followed
struct FollowedEpoch: Sendable {
    private(set) var history = History.none
    private(set) var epoch = Epoch.none
    /// Frames of these may still arrive, over older connections.
    private var left = LeftHistories()
    /// How long nothing of this history has come, but for times in which this process stood still.
    private var silence = Duration.zero
    private var knock: Knock?

    /// An epoch of a known history that is heard while the present one is silent.
    private struct Knock {
        let history: History
        let epoch: Epoch
        let since: MonotonicTime
        var framesCount: Int
    }

    /// After this silence a history that was left may be the present one again: that of a journal that was put back.
    private static var silenceLimit: Duration { .seconds(10) }
    private static var knockLimit: Duration { .seconds(5) }
    /// A reducer ticks at least every second.
    private static var knocksMin: Int { 8 }

    /// What a frame says about the epoch that is followed.
    enum Verdict: Equatable {
        /// It is of the one that was followed before.
        case same
        /// It is of a newer epoch of this history, which is followed from here on.
        case newEpoch
        /// It is of another history, or of an older epoch of this one, which is followed from here on.
        case other
        /// It is late.
        case ignored
    }

    /// A message of this history and epoch has come.
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

    /// Whether another history, or an older epoch, may be followed from here on. What is known comes back if nothing else is
    /// heard for long, and it goes on and on: a journal was put back, or what was followed is a late frame of a history that
    /// was over before this observer began.
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

    /// Whether a word of the loop's end is of an epoch that is over. A peer on the same connection may know of a newer epoch, or
    /// of an older one.
    func hasLeft(_ end: HeardEnd) -> Bool {
        end.history == history ? end.epoch.number < epoch.number : left.contains(end.history)
    }

    /// Nothing was heard for this time.
    mutating func pass(_ time: Duration) { silence += min(time, .seconds(1)) }
}
