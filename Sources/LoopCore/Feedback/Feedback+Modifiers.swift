// Modifiers of feedbacks. Each returns a changed copy, so that they chain:
//
//     .react("download", requests: \.pending) { … }.on(.workers).retry(.exponential(max: 5)).timeout(.seconds(30))

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
        if let mistake = mistake(of: "grouped(by:)", for: Request.self, withoutRequests: "groups") {
            return mistaken(mistake)
        }
        return changingEffect { $0.group = { request in (request as? Request).map(group) ?? "" } }
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
        if let mistake = mistake(of: "priority(_:)", for: Request.self, withoutRequests: "priority") {
            return mistaken(mistake)
        }
        if step <= .zero {
            return mistaken("the feedback \"\(name)\" has a priority with a step of \(step), which must be above zero")
        }
        return changingEffect { $0.priority = { request in Int32(clamping: (request as? Request).map(priority) ?? 0) } }
            .changing { $0.policy.priorityStep = step }
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
        let event = { @Sendable (request: any Sendable, failure: EffectFailure) -> Event? in
            (request as? Request).flatMap { event($0, failure) }
        }
        var copy = changingEffect { $0.failureEvent = event }
        if case .custom(var custom) = kind {
            custom.failureEvent = event
            copy.kind = .custom(custom)
        }
        return copy
    }

    /// This feedback with a change to the effect of its requests, if it has one.
    private func changingEffect(_ change: (inout RequestEffect<State, Event>) -> Void) -> Feedback {
        guard case .effect(var effect) = kind else { return self }
        change(&effect)
        var copy = self
        copy.kind = .effect(effect)
        return copy
    }

    /// The error text for a modifier whose closure or key path is for requests of another type than the feedback's, or nil.
    /// - Parameter lacked: what the effects of a stream do not have, or nil if they can have what the modifier gives.
    private func mistake<Request>(
        of modifier: String, for type: Request.Type, withoutRequests lacked: String? = nil
    ) -> String? {
        let type = RequestType(type)
        let own: RequestType?
        switch kind {
        case .effect(let effect): own = effect.type
        case .custom(let custom): own = custom.requestType
        case .timer, .schedule, .combined: own = nil
        }
        guard let own else { return "the feedback \"\(name)\" has no requests, and \(modifier) is for \(type)" }
        if own != type {
            return "the feedback \"\(name)\" has requests of type \(own), and its \(modifier) is for \(type);"
                + " let the closure or the key path begin with \(own)"
        }
        if let lacked, custom != nil { return "\(name) follows a stream, so its effects have no \(lacked)" }
        return nil
    }
}
