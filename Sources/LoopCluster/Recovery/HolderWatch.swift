package import LoopCore

/// What a process that waits for a journal has seen of its holder. The lease only detects failures. The watching process judges it
/// by its own clock, and the takeover itself compares the row once more.
///
///     renewed ──▶ watched ── unchanged for 1.15 leases ──▶ free
///        ▲           │
///        └── changed ┘
package struct HolderWatch: Equatable, Sendable {
    /// The numbers that change while the holder lives.
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
        /// The holder may be alive. If nothing changes until that time, it counts as dead.
        case watched(until: MonotonicTime)
        /// The holder has renewed the lease since the last look.
        case renewed
    }

    /// What was seen last.
    package private(set) var sign: Sign?
    /// When the sign was first seen. It was there a little earlier, which only makes the wait longer.
    private var since = MonotonicTime.zero

    /// The limit of a lease, whatever a row says.
    private static var leaseMax: Duration { .seconds(3600) }

    package init() {}

    /// How long after its last sign of life a holder counts as alive.
    package static func silence(ofLease lease: Duration) -> Duration { lease / 100 * 115 }

    /// Judges the sign that was just read.
    /// - Parameter lease: the time within which the holder has promised to renew.
    package mutating func verdict(on sign: Sign, lease: Duration, at now: MonotonicTime) -> Verdict {
        let limit = Self.silence(ofLease: max(.zero, min(lease, Self.leaseMax)))
        guard sign == self.sign else {
            let isRenewed = self.sign.map { $0.journal == sign.journal } ?? false
            self.sign = sign
            since = now
            return isRenewed ? .renewed : .watched(until: now + limit)
        }
        return now - since >= limit ? .free : .watched(until: since + limit)
    }
}
