// What can be said of a feedback after it was made. Each modifier returns a changed copy, so that they chain:
//
//     .each("download", requests: \.pending) { … }.on(.workers).retry(.exponential(max: 5)).timeout(.seconds(30))

extension Feedback {
    /// The same feedback with its effects elsewhere.
    public func on(_ placement: Placement) -> Feedback {
        changing { $0.placement = placement }
    }

    /// The same feedback under another policy as a whole.
    public func policy(_ policy: EffectPolicy) -> Feedback {
        changing { $0.policy = policy }
    }

    /// The same feedback, whose failed effects are tried again like this.
    public func retry(_ retry: Retry) -> Feedback {
        changing { $0.policy.retry = retry }
    }

    /// The same feedback, whose attempts fail when they take longer than this.
    public func timeout(_ limit: Duration) -> Feedback {
        changing { $0.policy.timeout = limit }
    }

    /// The same feedback with at most this many effects running at once.
    public func limited(to concurrency: Int) -> Feedback {
        changing { $0.policy.concurrency = concurrency }
    }

    /// The same feedback with at most `concurrency` effects running at once, and at most `perGroup` of each group.
    /// - Parameters:
    ///   - concurrency: the limit of all effects together; nil for none.
    ///   - perGroup: the limit of each group.
    ///   - groupedBy: the group of a request, such as the host that it goes to.
    public func limited<Request: Sendable>(
        to concurrency: Int? = nil, perGroup: Int, groupedBy: @escaping @Sendable (Request) -> String
    ) -> Feedback {
        grouped(by: groupedBy).changing {
            $0.policy.concurrency = concurrency ?? $0.policy.concurrency
            $0.policy.concurrencyPerGroup = perGroup
        }
    }

    /// The same feedback, whose effects start no more often than this.
    public func rated(_ rate: RateLimit) -> Feedback {
        changing { $0.policy.rate = rate }
    }

    /// The same feedback, whose effects start no more often than `rate` in all, and than `perGroup` in each group.
    /// - Parameters:
    ///   - rate: the limit of all effects together; nil for none.
    ///   - perGroup: the limit of each group.
    ///   - groupedBy: the group of a request, such as the host that it goes to.
    public func rated<Request: Sendable>(
        _ rate: RateLimit? = nil, perGroup: RateLimit, groupedBy: @escaping @Sendable (Request) -> String
    ) -> Feedback {
        grouped(by: groupedBy).changing {
            $0.policy.rate = rate ?? $0.policy.rate
            $0.policy.ratePerGroup = perGroup
        }
    }

    /// The same feedback with requests in groups, whose limits are those of the policy. The closure names the type of
    /// the requests: `{ (page: Page) in page.host }`.
    public func grouped<Request: Sendable>(by group: @escaping @Sendable (Request) -> String) -> Feedback {
        demand(Request.self, of: "grouped(by:)")
        precondition(custom == nil, "feedback \(name) follows a stream, so that its effects have no groups")
        var copy = self
        copy.group = { request in (request as? Request).map(group) ?? "" }
        return copy
    }

    /// The same feedback, which says by an event that an effect has failed for good. The closure names the type of the
    /// requests: `{ (page: Page, error) in .failed(page) }`; nil parks the effect, or, in `compacting`, forgets it.
    public func failing<Request: Sendable>(
        _ event: @escaping @Sendable (Request, any Error) -> Event?
    ) -> Feedback {
        demand(Request.self, of: "failing")
        var copy = self
        copy.failureEvent = { request, error in (request as? Request).flatMap { event($0, error) } }
        copy.custom?.failureEvent = copy.failureEvent
        return copy
    }

    private func demand<Request>(_ type: Request.Type, of modifier: String) {
        let type = RequestType(type)
        precondition(
            requestType == type,
            "feedback \(name) has requests of type \(requestType?.description ?? "none"); \(modifier) is for \(type)")
    }
}
