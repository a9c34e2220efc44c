/// A `RateLimit` at work: a bucket that gains a token every interval, up to the burst, and spends one for each start.
///
/// All buckets of a scheduler are empty at its first `next`, so that a restart gives no burst. The bucket is one number:
/// the time at which it was last empty, computed from its present level.
struct TokenBucket: Sendable {
    /// Nanoseconds from one token to the next.
    private let interval: UInt64
    /// Nanoseconds in which an empty bucket fills.
    private let fillTime: UInt64
    /// The time at which the bucket was last empty, or nil if nothing was taken since the scheduler's first `next`.
    private var emptyAt: UInt64?

    init(_ limit: RateLimit) {
        let nanoseconds = min(1e9 / limit.perSecond, 0x1p62)
        let whole = UInt64(nanoseconds)
        interval = Double(whole) < nanoseconds ? whole + 1 : max(1, whole)
        let (product, overflow) = interval.multipliedReportingOverflow(by: UInt64(max(1, limit.burst)))
        fillTime = overflow ? .max : product
    }

    /// Whether no token was taken yet.
    var isFresh: Bool { emptyAt == nil }

    /// When the next token is available. `begin` is the time of the scheduler's first `next`.
    func readyAt(begin: MonotonicTime) -> MonotonicTime {
        TokenBucket.sum(emptyAt ?? begin.nanoseconds, interval)
    }

    /// When the bucket is full, and thus equal to an unused one.
    func fullAt(begin: MonotonicTime) -> MonotonicTime {
        TokenBucket.sum(emptyAt ?? begin.nanoseconds, fillTime)
    }

    /// Takes one token, which must be available.
    mutating func take(at now: MonotonicTime, begin: MonotonicTime) {
        let earliest = now.nanoseconds > fillTime ? now.nanoseconds - fillTime : 0
        emptyAt = TokenBucket.sum(max(emptyAt ?? begin.nanoseconds, earliest), interval).nanoseconds
    }

    private static func sum(_ a: UInt64, _ b: UInt64) -> MonotonicTime {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return MonotonicTime(nanoseconds: overflow ? .max : sum)
    }
}
