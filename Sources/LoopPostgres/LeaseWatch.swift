package import LoopCore

/// What a process that wants a journal has seen of its holder. The lease of a journal is a detector of failures, and no more: it
/// is judged by the clock of the process that watches, and what it decides is compared once more in the takeover itself.
///
///     renewed ──▶ watched ── unchanged for 1.15 leases ──▶ free
///        ▲           │
///        └── changed ┘
package struct LeaseWatch: Equatable, Sendable {
    /// What changes as long as the holder lives.
    package struct Sign: Equatable, Sendable {
        package var journal: Int64
        package var term: Int64
        package var nonce: Int64
        package var renewals: Int64
        /// The position of the newest record, because an append is a sign of life too.
        package var position: UInt64

        package init(journal: Int64, term: Int64, nonce: Int64, renewals: Int64, position: UInt64) {
            self.journal = journal
            self.term = term
            self.nonce = nonce
            self.renewals = renewals
            self.position = position
        }
    }

    package enum Verdict: Equatable, Sendable {
        /// The holder gives no sign of life.
        case free
        /// The holder may live or not: at that time it is known, if nothing changes.
        case watched(until: MonotonicTime)
        /// The holder has renewed the lease since the last look.
        case renewed
    }

    /// What was seen last.
    private(set) var sign: Sign?
    /// When it was seen first. What was seen was there a little earlier; that only makes the wait longer.
    private var since = MonotonicTime.zero

    package init() {}

    /// No lease is taken to be longer, whatever a row says.
    private static let leaseMax = 3_600_000

    /// Judges what was just read.
    /// - Parameter leaseMilliseconds: what the holder has promised to renew within.
    package mutating func verdict(
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
