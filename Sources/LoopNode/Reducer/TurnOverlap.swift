import LoopCluster
import LoopCore

/// How many turns may wait for their receipts before the next one begins.
///
/// A database commits one append after the other. More of them on their way hide the way there and back, and the reducing; they do
/// not make it commit faster. With a near database a third append only waits behind the second, and both could have been one
/// turn. So as many are on their way as wait hardly longer than one that is alone.
///
///     alone:       ──way──▶ commit ◀──way──          waits 1
///     near, 3:     ─▶ commit commit commit ◀─        the last one waits almost 3: too many
///     far, 4:      ────────▶ c c c c ◀────────       the last one waits hardly more than 1
struct TurnOverlap: Equatable {
    /// How many may wait at most. It must be less than 7: an observer returns to an older epoch after 8 frames of it, and late frames
    /// of a deposed reducer are what had its receipt, and one more.
    static let turnsMax = 4
    /// One that commits, and one behind it.
    private static let turnsMin = 2
    /// After so many others, one goes alone: how long that takes may have changed.
    private static let othersMax = 256
    private static let samplesMax = 8

    private var limit = turnsMin
    /// How long the newest of those have waited that went alone, the newest in front.
    private var aloneWaits: [Duration] = []
    private var othersCount = 0

    /// How many turns may wait when the next one begins, that one included.
    var turnsLimit: Int { othersCount >= Self.othersMax ? 1 : limit }

    /// A turn with records has its receipt.
    /// - Parameters:
    ///   - wait: how long that took.
    ///   - ahead: how many turns waited when it began to.
    mutating func note(wait: Duration, ahead: Int) {
        if ahead == 0 {
            othersCount = 0
            aloneWaits.insert(wait, at: 0)
            if aloneWaits.count > Self.samplesMax { aloneWaits.removeLast() }
            return
        }
        othersCount += 1
        // One that had room left says nothing of the limit.
        guard ahead + 1 >= limit, let alone = aloneWaits.min() else { return }
        if wait > alone * 2 {
            limit = max(Self.turnsMin, limit - 1)
        } else if wait * 2 < alone * 3 {
            limit = min(Self.turnsMax, limit + 1)
        }
    }

    /// For how long a turn may wait while others begin. Then the reducer stands still until it has its receipt.
    ///
    /// Leases are judged by the gap between turns: one of more than half the silence limit is the reducer's own, and forgiven. Turns
    /// that go on while no receipt comes, and so while no peer hears anything, would hide a part of the gap. This keeps that part
    /// small.
    static func standstill(silenceLimit: Duration) -> Duration { silenceLimit / 16 }
}

/// A turn that waits for its receipt. A class, because an array holds no value that cannot be copied.
final class WaitingTurn {
    /// What its release needs the journal to have.
    let position: UInt64
    /// When its records were handed to the journal.
    let begunAt: MonotonicTime
    /// How many turns waited before it.
    let ahead: Int
    /// The records that the turn appends. If there are none, it only waits for the turns ahead.
    let records: RecordLog
    private var ready: Ready?

    init(_ ready: consuming Ready, begunAt: MonotonicTime, ahead: Int) {
        position = ready.position
        records = ready.records
        self.begunAt = begunAt
        self.ahead = ahead
        self.ready = consume ready
    }

    /// What it has made. Once.
    func take() -> Ready {
        guard let ready = ready.take() else { preconditionFailure("turn \(position) was released twice") }
        return ready
    }
}
