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
        if let mistake = mistake(of: "grouped(by:)", for: Request.self) { return mistaken(mistake) }
        if custom != nil { return mistaken("\(name) follows a stream, so its effects have no groups") }
        var copy = self
        copy.group = { request in (request as? Request).map(group) ?? "" }
        return copy
    }

    /// The same feedback, whose groups get equal shares of what runs: of those with waiting effects, the group that runs the
    /// fewest starts the next; of several, the one that has not started any for the longest. So a customer with ten thousand
    /// requests does not keep another's one waiting. The closure or key path names the type of the requests: `\Order.customer`.
    ///
    /// A feedback has one grouping: the limits of groups (`limited(to:perGroup:groupedBy:)`) hold for these groups too.
    /// - Parameter group: whose share a request counts against.
    public func fair<Request: Sendable>(by group: @escaping @Sendable (Request) -> String) -> Feedback {
        grouped(by: group).changing { $0.policy.isFair = true }
    }

    /// The same feedback, whose waiting effects start in the order of their priority and of their waiting. An effect of a
    /// priority that is greater by one starts as if it had waited for `step` longer: so the less urgent wait longer, and none
    /// waits for ever. The closure or key path names the type of the requests: `\Order.urgency`.
    ///
    /// Where the groups have shares (`fair(by:)`), the priority orders the effects of each group. When a request changes,
    /// its priority is derived again. After a restart of the reducer, waiting counts from the restart.
    /// - Parameters:
    ///   - priority: of a request; the greater, the sooner. Kept within `Int32`.
    ///   - step: how much waiting one step of priority counts for; above zero.
    public func priority<Request: Sendable>(
        _ priority: @escaping @Sendable (Request) -> Int, step: Duration = .seconds(60)
    ) -> Feedback {
        if let mistake = mistake(of: "priority(_:)", for: Request.self) { return mistaken(mistake) }
        if custom != nil { return mistaken("\(name) follows a stream, so its effects have no priority") }
        if step <= .zero {
            return mistaken("the feedback \"\(name)\" has a priority with a step of \(step), which must be above zero")
        }
        var copy = self
        copy.priority = { request in Int32(clamping: (request as? Request).map(priority) ?? 0) }
        copy.policy.priorityStep = step
        return copy
    }

    /// A copy of the feedback that sends an event when an effect has failed for good, because an error or a timeout has ended its
    /// last attempt. The closure names the type of the requests: `{ (page: Page, failure) in .failed(page, "\(failure)") }`. If
    /// it returns nil, the effect is parked, or, in `compacting`, forgotten.
    ///
    /// The process that owns the state calls the closure, wherever the effect has run: the reducer if there is one.
    public func failing<Request: Sendable>(
        _ event: @escaping @Sendable (Request, EffectFailure) -> Event?
    ) -> Feedback {
        if let mistake = mistake(of: "failing(_:)", for: Request.self) { return mistaken(mistake) }
        var copy = self
        copy.failureEvent = { request, failure in (request as? Request).flatMap { event($0, failure) } }
        copy.custom?.failureEvent = copy.failureEvent
        return copy
    }

    /// What is wrong if a modifier's closure or key path is for another type than the feedback's requests, or nil if nothing is.
    private func mistake<Request>(of modifier: String, for type: Request.Type) -> String? {
        let type = RequestType(type)
        if requestType == type { return nil }
        guard let requestType else { return "the feedback \"\(name)\" has no requests, and \(modifier) is for \(type)" }
        return "the feedback \"\(name)\" has requests of type \(requestType), and its \(modifier) is for \(type);"
            + " let the closure or the key path begin with \(requestType)"
    }
}
