package import LoopCore

extension LinkCheck {
    /// One feedback: workers fetch and parse the targets that the state requests.
    ///
    /// The job has the number of retries, and the effect counts them: it sends the failure after the last one. The policy's
    /// own limit is above the largest possible number, so that no effect is ever parked.
    package var feedbacks: [Feedback<LinkCheckState, Event>] {
        [
            .react("fetch", requests: \.requests) { (job: FetchJob, context) in
                .run { send in try await PageCheck(job: job).run(failures: context.failures, send) }
            }
            .policy(policy)
            .on(.workers)
            .grouped { (job: FetchJob) in job.host }
            .failing { (job: FetchJob, failure) in
                .failed(target: job.target, status: nil, error: "could not be checked: \(failure)")
            }
        ]
    }

    static let retriesMax = 20

    private var policy: EffectPolicy {
        EffectPolicy(
            retry: .exponential(max: Self.retriesMax + 1, first: .milliseconds(500), longest: .seconds(30)),
            concurrencyPerGroup: hostConcurrency, ratePerGroup: hostRate.map { RateLimit(perSecond: $0) })
    }
}
