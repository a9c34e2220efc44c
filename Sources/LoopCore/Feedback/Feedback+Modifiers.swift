// Modifiers of feedbacks. Each returns a changed copy, so that they chain:
//
//     .each("download", requests: \.pending) { … }.on(.workers).retry(.exponential(max: 5)).timeout(.seconds(30))

extension Feedback {
    /// This feedback with another placement of its effects.
    public func on(_ placement: Placement) -> Feedback {
        changing { $0.placement = placement }
    }

    /// This feedback with another policy.
    public func policy(_ policy: EffectPolicy) -> Feedback {
        changing { $0.policy = policy }
    }

    /// This feedback with another retry of failed effects.
    public func retry(_ retry: Retry) -> Feedback {
        changing { $0.policy.retry = retry }
    }

    /// This feedback with a timeout for each attempt.
    public func timeout(_ limit: Duration) -> Feedback {
        changing { $0.policy.timeout = limit }
    }

    /// This feedback with at most this many effects running at once.
    public func limited(to concurrency: Int) -> Feedback {
        changing { $0.policy.concurrency = concurrency }
    }

    /// This feedback with at most `concurrency` effects running at once, and at most `perGroup` of each group.
    /// - Parameters:
    ///   - concurrency: the limit of all effects together, or nil for none.
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

    /// This feedback with a limit on how often effects start.
    public func rated(_ rate: RateLimit) -> Feedback {
        changing { $0.policy.rate = rate }
    }

    /// This feedback with a limit on how often effects start, in all and in each group.
    /// - Parameters:
    ///   - rate: the limit of all effects together, or nil for none.
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

    /// This feedback with its requests in groups, whose limits are those of the policy. The closure names the type of the
    /// requests: `{ (page: Page) in page.host }`.
    public func grouped<Request: Sendable>(by group: @escaping @Sendable (Request) -> String) -> Feedback {
        if let mistake = mistake(of: "grouped(by:)", for: Request.self) { return mistaken(mistake) }
        if custom != nil { return mistaken("\(name) follows a stream, so its effects have no groups") }
        var copy = self
        copy.group = { request in (request as? Request).map(group) ?? "" }
        return copy
    }

    /// This feedback with equal shares for groups, so that a customer with ten thousand requests does not delay another's
    /// only one. The waiting group that runs the fewest effects starts the next; among equals, the one whose last start is
    /// the oldest. The closure or key path names the type of the requests: `\Order.customer`.
    ///
    /// A feedback has one grouping. The limits of groups (`limited(to:perGroup:groupedBy:)`) apply to these groups too.
    /// - Parameter group: the group whose share a request uses.
    public func fair<Request: Sendable>(by group: @escaping @Sendable (Request) -> String) -> Feedback {
        grouped(by: group).changing { $0.policy.isFair = true }
    }

    /// This feedback with a priority for its waiting effects. An effect whose priority is greater by one starts as if it
    /// had waited for `step` longer. Thus less urgent effects wait longer, and none waits forever. The closure or key path
    /// names the type of the requests: `\Order.urgency`.
    ///
    /// If the groups have shares (`fair(by:)`), the priority orders the effects of each group. When a request changes, its
    /// priority is derived again. After a restart of the reducer, waiting counts from the restart.
    /// - Parameters:
    ///   - priority: the priority of a request; greater ones start sooner. Clamped to `Int32`.
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

    /// This feedback with an event for each effect that has failed for good, when an error or a timeout has ended its last
    /// attempt. The closure names the type of the requests: `{ (page: Page, failure) in .failed(page, "\(failure)") }`. If
    /// it returns nil, the effect is parked, or, in `compacting`, forgotten.
    ///
    /// The owner of the state calls the closure, wherever the effect ran. In a loop with a reducer, that is the reducer.
    public func failing<Request: Sendable>(
        _ event: @escaping @Sendable (Request, EffectFailure) -> Event?
    ) -> Feedback {
        if let mistake = mistake(of: "failing(_:)", for: Request.self) { return mistaken(mistake) }
        var copy = self
        copy.failureEvent = { request, failure in (request as? Request).flatMap { event($0, failure) } }
        copy.custom?.failureEvent = copy.failureEvent
        return copy
    }

    /// The error text for a modifier whose closure or key path is for requests of another type than the feedback's, or nil.
    private func mistake<Request>(of modifier: String, for type: Request.Type) -> String? {
        let type = RequestType(type)
        if requestType == type { return nil }
        guard let requestType else { return "the feedback \"\(name)\" has no requests, and \(modifier) is for \(type)" }
        return "the feedback \"\(name)\" has requests of type \(requestType), and its \(modifier) is for \(type);"
            + " let the closure or the key path begin with \(requestType)"
    }
}
