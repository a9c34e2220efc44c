import LoopCollections

/// The effects of a loop in one process, with the phase of each.
///
///     begin ──▶ waiting ──start──▶ running ──▶ completed
///                  ▲                  │ failed
///                  └──── retry ───────┤
///                                     └──▶ parked
///     cancel, from everywhere ──▶ gone
///
/// Timers do not run: they wait until they are due, and their event completes them.
///
/// A completed or parked effect remains until its query cancels it, because its queued events are valid until then.
package struct EffectTable: Sendable {
    private struct Record {
        var request: any Sendable
        var group: String?
        var priority: Int32
        var phase = EffectPhase.waiting
        /// The number of the newest attempt. Events of an older one are refused.
        var attempt = 0
        var failures = 0
        var failure: String?
    }

    private struct Timeout: Comparable {
        var time: MonotonicTime
        var id: EffectID
        var attempt: Int
        static func < (a: Timeout, b: Timeout) -> Bool { a.time != b.time ? a.time < b.time : a.id < b.id }
    }

    /// One attempt to be started by the shell.
    package struct Launch: Sendable {
        package var id: EffectID
        package var attempt: Int
        package var failures: Int
        package var request: any Sendable
    }

    /// The consequence of a failure.
    enum FailureAction: Sendable {
        /// The attempt was void already.
        case none
        /// The effect is retried later.
        case retry
        /// The failure is final. Ask the feedback for an event, then `complete` or `park`.
        case final(request: any Sendable)
    }

    /// The due time of a timer's request, by feedback number; empty if there are no timers.
    private let timeOf: [(@Sendable (any Sendable) -> WallTime)?]
    private var timers = TimerQueue()
    private var schedules: LocalSchedules
    private var haveSchedulesBegun = false
    /// The newest reading of both clocks, for timers.
    private var moment = Moment(monotonic: .zero, wall: WallTime(milliseconds: 0))
    /// How long a reading of the civil clock is valid, or nil if forever.
    private let trust: Duration?
    private let policies: [EffectPolicy]
    private let names: [String]
    private var scheduler: EffectScheduler
    private var records: [EffectID: Record] = [:]
    private var timeouts = BinaryHeap<Timeout>()
    private var random: SeededRandom

    /// - Parameters:
    ///   - feedbacks: the feedbacks by number.
    ///   - trust: how long a reading of the civil clock is valid, because the clock may be set; or nil if it never is.
    ///   - zones: the named time zones that schedules may use.
    package init<State, Event>(
        feedbacks: [Feedback<State, Event>], seed: UInt64, trust: Duration? = nil,
        zones: ZoneDatabase = ZoneDatabase()
    ) {
        names = feedbacks.map { $0.name }
        policies = feedbacks.map { $0.policy }
        timeOf = feedbacks.contains { $0.timer != nil } ? feedbacks.map { $0.timer?.time } : []
        self.trust = trust
        schedules = LocalSchedules(feedbacks.map { $0.schedule.map { ($0.schedule, $0.missed) } }, zones: zones)
        let numbered = policies.enumerated().map { (UInt32($0.offset), $0.element) }
        scheduler = EffectScheduler(policies: Dictionary(uniqueKeysWithValues: numbered))
        random = SeededRandom(seed: seed)
    }

    // MARK: Changes by the queries

    /// Adds a new effect. One without limits starts at once, so that effects start in the order of their feedbacks.
    mutating func begin(
        _ id: EffectID, request: any Sendable, group: String?, priority: Int32, at now: MonotonicTime
    ) -> Launch? {
        records[id] = Record(request: request, group: group, priority: priority)
        if let time = time(of: id, request) {
            timers.set(id, to: time)
            return nil
        }
        guard isUnlimited(id) else {
            scheduler.add(id, group: group, priority: priority)
            return nil
        }
        scheduler.adopt(id, group: group, priority: priority)
        return launch(id, at: now)
    }

    /// Sets a newer request of an effect. It returns whether a running attempt should get the request.
    mutating func update(_ id: EffectID, request: any Sendable, priority: Int32) -> Bool {
        records[id]?.request = request
        records[id]?.priority = priority
        scheduler.prioritize(id, priority)
        if let time = time(of: id, request), records[id]?.phase == .waiting { timers.set(id, to: time) }
        return records[id]?.phase == .running
    }

    mutating func cancel(_ id: EffectID) {
        records[id] = nil
        scheduler.remove(id)
        if hasTimers { timers.clear(id) }
    }

    mutating func cancelAll() {
        for id in records.keys { scheduler.remove(id) }
        records = [:]
        timers.removeAll()
    }

    // MARK: Timers

    /// Whether there are feedbacks with timers or schedules, for which the clocks must be read.
    var hasTimers: Bool { !timeOf.isEmpty || !schedules.isEmpty }

    private func time(of id: EffectID, _ request: any Sendable) -> WallTime? {
        !timeOf.isEmpty ? timeOf[Int(id.feedback)]?(request) : nil
    }

    /// Takes a new reading of both clocks. The civil clock may have been set since the last one.
    mutating func see(_ moment: Moment) {
        self.moment = moment
        if !haveSchedulesBegun { schedules.begin(at: moment.wall) }
        haveSchedulesBegun = true
    }

    /// The runs of schedules that are due. Each is returned once.
    mutating func takeDueRuns(at now: MonotonicTime) -> [(feedback: Int, run: ScheduleRun)] {
        schedules.isEmpty ? [] : schedules.takeDue(at: moment.wall + (now - moment.monotonic))
    }

    /// The timers that are due, in the order in which they fire. Each is returned once.
    mutating func takeDue(at now: MonotonicTime) -> [(id: EffectID, request: any Sendable)] {
        let wall = moment.wall + (now - moment.monotonic)
        var due: [(id: EffectID, request: any Sendable)] = []
        while let first = timers.first, first.time <= wall {
            timers.clear(first.id)
            if let record = records[first.id] { due.append((first.id, record.request)) }
        }
        return due
    }

    /// Completes a timer that has fired. It returns false if the timer was cancelled before.
    mutating func fire(_ id: EffectID) -> Bool {
        guard records[id]?.phase == .waiting else { return false }
        records[id]?.phase = .completed
        return true
    }

    /// When the first timer is due, or the civil clock must be read again.
    private func timerDeadline(after now: MonotonicTime) -> MonotonicTime? {
        guard let first = [timers.first?.time, schedules.next].compactMap({ $0 }).min() else { return nil }
        let (wait, overflow) = first.milliseconds.subtractingReportingOverflow(moment.wall.milliseconds)
        // A wait that overflows is longer than any clock can run.
        let deadline = overflow ? .init(nanoseconds: .max) : moment.monotonic + .milliseconds(wait)
        return trust.map { min(deadline, now + $0) } ?? deadline
    }

    // MARK: Life of an attempt

    /// The next effect that its limits allow to start.
    mutating func next(at now: MonotonicTime) -> Launch? {
        while let id = scheduler.next(at: now, where: { _ in true }) {
            if let launch = launch(id, at: now) { return launch }
        }
        return nil
    }

    private mutating func launch(_ id: EffectID, at now: MonotonicTime) -> Launch? {
        guard var record = records[id] else { return nil }
        record.phase = .running
        record.attempt += 1
        records[id] = record
        if let limit = policy(of: id).timeout {
            timeouts.push(Timeout(time: now + limit, id: id, attempt: record.attempt))
        }
        return Launch(id: id, attempt: record.attempt, failures: record.failures, request: record.request)
    }

    /// The phase of an effect, or nil if it is not live.
    package func phase(of id: EffectID) -> EffectPhase? { records[id]?.phase }

    /// Whether events of the effect are still valid.
    func isLive(_ id: EffectID) -> Bool { records[id] != nil }

    /// Whether this attempt may send.
    package func isRunning(_ id: EffectID, attempt: Int) -> Bool {
        records[id].map { $0.phase == .running && $0.attempt == attempt } ?? false
    }

    /// Completes the effect. It returns false if the attempt was void already.
    mutating func complete(_ id: EffectID, attempt: Int) -> Bool {
        guard isRunning(id, attempt: attempt) else { return false }
        records[id]?.phase = .completed
        scheduler.remove(id)
        return true
    }

    mutating func fail(_ id: EffectID, attempt: Int, error: any Error, at now: MonotonicTime) -> FailureAction {
        guard var record = records[id], isRunning(id, attempt: attempt) else { return .none }
        record.failures += 1
        record.failure = EffectFailure(error).message
        let advice = error as? any RetryAdvice
        let delay = policy(of: id).retry.delay(afterFailures: record.failures, random: &random)
        if let delay, advice?.isTransient ?? true {
            record.phase = .waiting
            records[id] = record
            scheduler.requeue(id, notBefore: now + max(delay, advice?.retryAfter ?? .zero))
            return .retry
        }
        record.phase = .parked
        records[id] = record
        scheduler.remove(id)
        return .final(request: record.request)
    }

    /// Completes a parked effect whose failure has become an event.
    mutating func settle(_ id: EffectID) {
        if records[id]?.phase == .parked { records[id]?.phase = .completed }
    }

    /// Retries a parked effect from the beginning. It returns false if the effect is not parked.
    mutating func retryParked(_ id: EffectID) -> Bool {
        guard var record = records[id], record.phase == .parked else { return false }
        record.phase = .waiting
        record.failures = 0
        records[id] = record
        scheduler.add(id, group: record.group, priority: record.priority)
        return true
    }

    /// The effects that have failed for good, oldest first.
    package var parked: [ParkedEffect] {
        // A schedule that cannot run is listed like an effect that has failed for good.
        schedules.unusable.map { feedback, reason in
            ParkedEffect(
                id: EffectID(feedback: UInt32(feedback), seq: .initial, index: .max), feedback: names[feedback],
                failures: 0, reason: reason)
        }
            + records.filter { $0.value.phase == .parked }.sorted { $0.key < $1.key }.map { id, record in
                ParkedEffect(
                    id: id, feedback: names[Int(id.feedback)], failures: record.failures, reason: record.failure ?? "")
            }
    }

    /// The phase of every live effect.
    var phases: [EffectID: EffectPhase] { records.mapValues(\.phase) }

    // MARK: Time

    /// The attempts whose timeout has passed.
    mutating func overdue(at now: MonotonicTime) -> [(id: EffectID, attempt: Int)] {
        var overdue: [(id: EffectID, attempt: Int)] = []
        while let top = timeouts.top, top.time <= now || !isRunning(top.id, attempt: top.attempt) {
            timeouts.pop()
            if isRunning(top.id, attempt: top.attempt) { overdue.append((top.id, top.attempt)) }
        }
        return overdue
    }

    /// The next time at which something is due, even if no event comes.
    mutating func deadline(after now: MonotonicTime) -> MonotonicTime? {
        while let top = timeouts.top, !isRunning(top.id, attempt: top.attempt) { timeouts.pop() }
        if timeouts.isBloated(live: scheduler.runningCount) {
            let table = self
            timeouts.compact { table.isRunning($0.id, attempt: $0.attempt) }
        }
        return [scheduler.deadline(after: now), timeouts.top?.time, timerDeadline(after: now)].compactMap { $0 }.min()
    }

    private func policy(of id: EffectID) -> EffectPolicy { policies[Int(id.feedback)] }

    private func isUnlimited(_ id: EffectID) -> Bool {
        let policy = policy(of: id)
        return policy.concurrency == nil && policy.concurrencyPerGroup == nil && policy.rate == nil
            && policy.ratePerGroup == nil
    }
}

/// The phase of a live effect.
package enum EffectPhase: String, Hashable, Sendable {
    /// The scheduler decides when it starts.
    case waiting
    /// An attempt is under way.
    case running
    /// Its body has ended well, or its failure has become an event.
    case completed
    /// It has failed for good. Only a query of the parked effects shows it.
    case parked
}
