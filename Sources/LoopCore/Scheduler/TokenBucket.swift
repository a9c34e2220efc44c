/// A `RateLimit` at work: a bucket that gains a token every interval, up to the burst, and gives one for each start.
///
/// All buckets of a scheduler are empty when the scheduler begins, so that a restart gives no burst. The bucket is one
/// number, the time at which it was last empty, counted back from how full it is now.
struct TokenBucket: Sendable {
    /// Nanoseconds from one token to the next.
    private let interval: UInt64
    /// Nanoseconds in which an empty bucket fills.
    private let fillTime: UInt64
    /// Nil: empty when the scheduler began, and nothing taken since.
    private var emptyAt: UInt64?

    init(_ limit: RateLimit) {
        let nanoseconds = min(1e9 / limit.perSecond, 0x1p62)
        let whole = UInt64(nanoseconds)
        interval = Double(whole) < nanoseconds ? whole + 1 : max(1, whole)
        let (product, overflow) = interval.multipliedReportingOverflow(by: UInt64(max(1, limit.burst)))
        fillTime = overflow ? .max : product
    }

    /// Whether nothing was taken yet.
    var isFresh: Bool { emptyAt == nil }

    /// When a token is there. `begin` is the time at which the scheduler began.
    func readyAt(begin: MonotonicTime) -> MonotonicTime {
        TokenBucket.sum(emptyAt ?? begin.nanoseconds, interval)
    }

    /// When the bucket is full, and thus as good as one from which nothing was ever taken.
    func fullAt(begin: MonotonicTime) -> MonotonicTime {
        TokenBucket.sum(emptyAt ?? begin.nanoseconds, fillTime)
    }

    /// Takes one token, which must be there.
    mutating func take(at now: MonotonicTime, begin: MonotonicTime) {
        let earliest = now.nanoseconds > fillTime ? now.nanoseconds - fillTime : 0
        emptyAt = TokenBucket.sum(max(emptyAt ?? begin.nanoseconds, earliest), interval).nanoseconds
    }

    private static func sum(_ a: UInt64, _ b: UInt64) -> MonotonicTime {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return MonotonicTime(nanoseconds: overflow ? .max : sum)
    }
}
