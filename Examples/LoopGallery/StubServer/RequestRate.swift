/// The rate limit of a server: a number of requests per second, and some at once after a pause.
struct RequestRate: Equatable, Sendable {
    private let interval: Duration
    private let burst: Int
    /// When the full burst is available again, or nil before the first request.
    private var fullAt: ContinuousClock.Instant?

    init(perSecond: Double, burst: Int) {
        interval = .seconds(1 / perSecond)
        self.burst = burst
    }

    /// Counts one request. It returns nil if the request may be answered, else the time to wait before a retry.
    mutating func take(at now: ContinuousClock.Instant) -> Duration? {
        let next = max(fullAt ?? now, now) + interval
        let wait = now.duration(to: next) - interval * burst
        guard wait <= .zero else { return wait }
        fullAt = next
        return nil
    }
}
