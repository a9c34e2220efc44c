/// How the effects of one feedback are retried, limited and bounded in time.
public struct EffectPolicy: Hashable, Sendable {
    /// How a failed effect is retried. By default `.never`: the first failure is final.
    package var retry: Retry
    /// The longest duration of one attempt, or nil for no limit.
    package var timeout: Duration?
    /// How many effects of the feedback run at once, or nil if only capacity limits them.
    package var concurrency: Int?
    /// How many effects of one group of the feedback run at once, or nil for no limit.
    package var concurrencyPerGroup: Int?
    /// How often effects of the feedback may start, or nil for no limit.
    package var rate: RateLimit?
    /// How often effects of one group may start, or nil for no limit.
    package var ratePerGroup: RateLimit?
    /// Whether the groups of the feedback get equal shares: the waiting group that runs the fewest effects starts the next.
    /// False by default: the effect that has waited for the longest starts.
    package var isFair: Bool
    /// How much waiting one step of an effect's priority counts for, or nil if effects have no priority.
    package var priorityStep: Duration?

    /// Creates a policy from its parts. Without arguments it neither retries nor limits anything.
    public init(
        retry: Retry = .never, timeout: Duration? = nil, concurrency: Int? = nil, concurrencyPerGroup: Int? = nil,
        rate: RateLimit? = nil, ratePerGroup: RateLimit? = nil, isFair: Bool = false, priorityStep: Duration? = nil
    ) {
        self.retry = retry
        self.timeout = timeout
        self.concurrency = concurrency
        self.concurrencyPerGroup = concurrencyPerGroup
        self.rate = rate
        self.ratePerGroup = ratePerGroup
        self.isFair = isFair
        self.priorityStep = priorityStep
    }
}

/// The times at which a failed effect is retried.
public struct Retry: Hashable, Sendable {
    /// How many attempts may fail before the effect has failed for good; at least 1.
    package var attemptsMax: Int
    /// The delay before the second attempt.
    package var firstDelay: Duration
    /// The longest delay between two attempts.
    package var delayMax: Duration
    /// The factor between one delay and the next, at least 1.
    package var factor: Double
    /// The random share of a delay, 0 … 1, so that many failures are not retried at once.
    package var jitter: Double

    /// Creates a back-off from its parts.
    /// - Precondition: `attemptsMax` is at least 1, `factor` is at least 1, and `jitter` is in 0 … 1.
    public init(attemptsMax: Int, firstDelay: Duration, delayMax: Duration, factor: Double = 2, jitter: Double = 0.5) {
        precondition(attemptsMax >= 1, "attemptsMax is \(attemptsMax); an effect is tried at least once")
        precondition(factor >= 1, "factor is \(factor); a back-off does not shrink")
        precondition((0...1).contains(jitter), "jitter is \(jitter); it is a share between 0 and 1")
        self.attemptsMax = attemptsMax
        self.firstDelay = firstDelay
        self.delayMax = delayMax
        self.factor = factor
        self.jitter = jitter
    }

    /// The first failure is final.
    public static let never = Retry(attemptsMax: 1, firstDelay: .zero, delayMax: .zero, factor: 1, jitter: 0)

    /// Doubling delays from `first` up to `longest`, half of each drawn at random.
    public static func exponential(
        max attempts: Int, first: Duration = .milliseconds(200), longest: Duration = .seconds(30)
    ) -> Retry {
        Retry(attemptsMax: attempts, firstDelay: first, delayMax: longest)
    }

    /// The delay before the next attempt after `failures` failed ones, or nil if the effect has failed for good.
    package func delay(afterFailures failures: Int, random: inout SeededRandom) -> Duration? {
        guard failures < attemptsMax else { return nil }
        var seconds = firstDelay.inSeconds
        for _ in 1..<max(failures, 1) where seconds < delayMax.inSeconds { seconds *= factor }
        seconds = min(seconds, delayMax.inSeconds)
        return .seconds(seconds * (1 - jitter * random.fraction()))
    }

    /// The delay before the next attempt after a failure that says whether and when it may be retried, or nil if the effect has
    /// failed for good.
    /// - Parameters:
    ///   - isFinal: whether another attempt cannot succeed.
    ///   - least: the shortest delay, or nil for that of the policy.
    package func delay(
        afterFailures failures: Int, isFinal: Bool, atLeast least: Duration?, random: inout SeededRandom
    ) -> Duration? {
        // It is drawn in any case, so that the delays of other effects do not depend on the kind of this failure.
        let delay = delay(afterFailures: failures, random: &random)
        return isFinal ? nil : delay.map { max($0, least ?? .zero) }
    }
}

/// A token bucket: `perSecond` starts a second, up to `burst` at once.
public struct RateLimit: Hashable, Sendable {
    /// How many effects may start in a second on average. Above 0; a value below 1 means less than one a second.
    package var perSecond: Double
    /// How many effects may start at once after a pause; at least 1.
    package var burst: Int

    /// Creates a limit from its parts.
    /// - Precondition: `perSecond` is above 0, and `burst` is at least 1.
    public init(perSecond: Double, burst: Int = 1) {
        precondition(perSecond > 0, "perSecond is \(perSecond); a rate is above zero")
        precondition(burst >= 1, "burst is \(burst); a bucket holds at least one")
        self.perSecond = perSecond
        self.burst = burst
    }
}
