/// How often a server may be asked: a number of requests per second, and some at once after a pause.
struct RequestRate: Equatable, Sendable {
    private let interval: Duration
    private let burst: Int
    /// When the full burst is available again; nil before the first request.
    private var fullAt: ContinuousClock.Instant?

    init(perSecond: Double, burst: Int) {
        interval = .seconds(1 / perSecond)
        self.burst = burst
    }

    /// Takes one request. Nil: it may be answered; else how long to wait before another try.
    mutating func take(at now: ContinuousClock.Instant) -> Duration? {
        let next = max(fullAt ?? now, now) + interval
        let wait = now.duration(to: next) - interval * burst
        guard wait <= .zero else { return wait }
        fullAt = next
        return nil
    }
}
