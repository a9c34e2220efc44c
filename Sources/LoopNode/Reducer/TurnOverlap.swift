import LoopCluster
import LoopCore

/// How many turns may wait for their receipts before the next one begins.
///
/// A database commits one append after another. More appends in flight hide the round trip and the reducing, but do not make it
/// commit faster. With a near database, a third append only waits behind the second, and both could have been one turn.
/// Therefore allow as many appends in flight as finish in about the time of a single one.
///
///     alone:       ──way──▶ commit ◀──way──          waits 1
///     near, 3:     ─▶ commit commit commit ◀─        the last one waits almost 3: too many
///     far, 4:      ────────▶ c c c c ◀────────       the last one waits hardly more than 1
struct TurnOverlap: Equatable {
    /// The most turns that may wait. It must be less than 7, because an observer returns to an older epoch after 8 frames of it. A
    /// deposed reducer's late frames are those of the turns with a receipt, and one more.
    static let turnsMax = 4
    /// One that commits, and one behind it.
    private static let turnsMin = 2
    /// After this many others, one append goes alone, because its time may have changed.
    private static let othersMax = 256
    private static let samplesMax = 8

    private var limit = turnsMin
    /// The waits of the newest appends that went alone, the newest in front.
    private var aloneWaits: [Duration] = []
    private var othersCount = 0

    /// How many turns may wait when the next one begins, including that one.
    var turnsLimit: Int { othersCount >= Self.othersMax ? 1 : limit }

    /// Notes that a turn with records has its receipt.
    /// - Parameters:
    ///   - wait: how long that took.
    ///   - ahead: how many turns waited when it began to wait.
    mutating func note(wait: Duration, ahead: Int) {
        if ahead == 0 {
            othersCount = 0
            aloneWaits.insert(wait, at: 0)
            if aloneWaits.count > Self.samplesMax { aloneWaits.removeLast() }
            return
        }
        othersCount += 1
        // A turn below the limit shows nothing about the limit.
        guard ahead + 1 >= limit, let alone = aloneWaits.min() else { return }
        if wait > alone * 2 {
            limit = max(Self.turnsMin, limit - 1)
        } else if wait * 2 < alone * 3 {
            limit = min(Self.turnsMax, limit + 1)
        }
    }

    /// How long a turn may wait while others begin. After that the reducer stops until the turn has its receipt.
    ///
    /// Leases are judged by the gap between turns: a gap of more than half the silence limit is the reducer's own fault, and
    /// forgiven. Turns without a receipt send nothing to peers, and would hide a part of the gap. This limit keeps that part small.
    static func standstill(silenceLimit: Duration) -> Duration { silenceLimit / 16 }
}

/// A turn that waits for its receipt. It is a class because an array cannot contain noncopyable values.
final class WaitingTurn {
    /// The position that the journal must have reached before the turn is released.
    let position: UInt64
    /// When the turn began to read what had arrived.
    let arrivedAt: MonotonicTime
    /// When its records were given to the journal.
    let begunAt: MonotonicTime
    /// How many turns waited before it.
    let ahead: Int
    /// The records that the turn appends. If there are none, it only waits for the turns ahead.
    let records: RecordLog
    private var ready: Ready?

    init(_ ready: consuming Ready, arrivedAt: MonotonicTime, begunAt: MonotonicTime, ahead: Int) {
        self.arrivedAt = arrivedAt
        position = ready.position
        records = ready.records
        self.begunAt = begunAt
        self.ahead = ahead
        self.ready = consume ready
    }

    /// Takes the turn's result. Can be called once.
    func take() -> Ready {
        guard let ready = ready.take() else { preconditionFailure("turn \(position) was released twice") }
        return ready
    }
}
