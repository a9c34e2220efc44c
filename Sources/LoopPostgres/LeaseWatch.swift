internal import LoopCore

/// What a process that waits for a journal has seen of its holder. The lease only detects failures. The watching process judges it
/// by its own clock, and the takeover itself compares the row once more.
///
///     renewed ──▶ watched ── unchanged for 1.15 leases ──▶ free
///        ▲           │
///        └── changed ┘
struct LeaseWatch: Equatable, Sendable {
    /// The numbers that change while the holder lives.
    struct Sign: Equatable, Sendable {
        var journal: Int64
        var term: Int64
        var nonce: Int64
        var renewals: Int64
        /// The position of the newest record, because an append is a sign of life too.
        var position: UInt64
    }

    enum Verdict: Equatable, Sendable {
        /// The holder gives no sign of life.
        case free
        /// The holder may be alive. If nothing changes until that time, it counts as dead.
        case watched(until: MonotonicTime)
        /// The holder has renewed the lease since the last look.
        case renewed
    }

    /// What was seen last.
    private(set) var sign: Sign?
    /// When the sign was first seen. It was there a little earlier, which only makes the wait longer.
    private var since = MonotonicTime.zero

    /// The limit of a lease in milliseconds, whatever a row says.
    private static let leaseMax = 3_600_000

    /// Judges the sign that was just read.
    /// - Parameter leaseMilliseconds: the time within which the holder has promised to renew.
    mutating func verdict(
        on sign: Sign, leaseMilliseconds: Int64, at now: MonotonicTime
    ) -> Verdict {
        let lease = Int(clamping: leaseMilliseconds)
        let limit = Duration.milliseconds(max(0, min(lease, Self.leaseMax)) * 115 / 100)
        guard sign == self.sign else {
            let isRenewed = self.sign.map { $0.journal == sign.journal } ?? false
            self.sign = sign
            since = now
            return isRenewed ? .renewed : .watched(until: now + limit)
        }
        return now - since >= limit ? .free : .watched(until: since + limit)
    }
}
