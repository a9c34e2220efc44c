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
    /// The live effects. The scheduler knows each by its place.
    private var records = HashTable<EffectID, Record>()
    private var scheduler: PlacedScheduler
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
        scheduler = PlacedScheduler(policies: Dictionary(uniqueKeysWithValues: numbered))
        random = SeededRandom(seed: seed)
    }

    // MARK: Changes by the queries

    /// Adds a new effect. One without limits starts at once, so that effects start in the order of their feedbacks.
    mutating func begin(
        _ id: EffectID, request: any Sendable, group: String?, priority: Int32, at now: MonotonicTime
    ) -> Launch? {
        let place = records.updateValue(Record(request: request, group: group, priority: priority), forKey: id)
        if let time = time(of: id, request) {
            timers.set(id, to: time)
            return nil
        }
        guard isUnlimited(id) else {
            scheduler.add(at: place, of: id.feedback, group: group, priority: priority)
            return nil
        }
        scheduler.adopt(at: place, of: id.feedback, group: group, priority: priority)
        return launch(at: place, at: now)
    }

    /// Sets a newer request of an effect. It returns whether a running attempt should get the request.
    mutating func update(_ id: EffectID, request: any Sendable, priority: Int32) -> Bool {
        guard let place = records.index(forKey: id) else { return false }
        records[at: place].request = request
        records[at: place].priority = priority
        scheduler.prioritize(at: place, priority)
        let phase = records[at: place].phase
        if phase == .waiting, let time = time(of: id, request) { timers.set(id, to: time) }
        return phase == .running
    }

    mutating func cancel(_ id: EffectID) {
        if let place = records.index(forKey: id) {
            scheduler.remove(at: place)
            records.remove(at: place, id.mixed)
        }
        if hasTimers { timers.clear(id) }
    }

    mutating func cancelAll() {
        for (place, _) in records.places { scheduler.remove(at: place) }
        records.removeAll()
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
        scheduler.next(at: now, where: { _ in true }).map { launch(at: $0, at: now) }
    }

    private mutating func launch(at place: Int, at now: MonotonicTime) -> Launch {
        let id = records.key(at: place)
        records[at: place].phase = .running
        records[at: place].attempt += 1
        let record = records[at: place]
        if let limit = policy(of: id).timeout {
            timeouts.push(Timeout(time: now + limit, id: id, attempt: record.attempt))
        }
        return Launch(id: id, attempt: record.attempt, failures: record.failures, request: record.request)
    }

    /// The phase of an effect, or nil if it is not live.
    package func phase(of id: EffectID) -> EffectPhase? { records[id]?.phase }

    /// Whether events of the effect are still valid.
    func isLive(_ id: EffectID) -> Bool { records.contains(id) }

    /// Whether this attempt may send.
    package func isRunning(_ id: EffectID, attempt: Int) -> Bool { placeOfRunning(id, attempt: attempt) != nil }

    private func placeOfRunning(_ id: EffectID, attempt: Int) -> Int? {
        guard let place = records.index(forKey: id), records[at: place].phase == .running,
            records[at: place].attempt == attempt
        else { return nil }
        return place
    }

    /// Completes the effect. It returns false if the attempt was void already.
    mutating func complete(_ id: EffectID, attempt: Int) -> Bool {
        guard let place = placeOfRunning(id, attempt: attempt) else { return false }
        records[at: place].phase = .completed
        scheduler.remove(at: place)
        return true
    }

    mutating func fail(_ id: EffectID, attempt: Int, error: any Error, at now: MonotonicTime) -> FailureAction {
        guard let place = placeOfRunning(id, attempt: attempt) else { return .none }
        records[at: place].failures += 1
        records[at: place].failure = EffectFailure(error).message
        let advice = error as? any RetryAdvice
        let delay = policy(of: id).retry.delay(
            afterFailures: records[at: place].failures, isFinal: advice?.isTransient == false,
            atLeast: advice?.retryAfter, random: &random)
        if let delay {
            records[at: place].phase = .waiting
            scheduler.requeue(at: place, notBefore: now + delay)
            return .retry
        }
        records[at: place].phase = .parked
        scheduler.remove(at: place)
        return .final(request: records[at: place].request)
    }

    /// Completes a parked effect whose failure has become an event.
    mutating func settle(_ id: EffectID) {
        if records[id]?.phase == .parked { records[id]?.phase = .completed }
    }

    /// Retries a parked effect from the beginning. It returns false if the effect is not parked.
    mutating func retryParked(_ id: EffectID) -> Bool {
        guard let place = records.index(forKey: id), records[at: place].phase == .parked else { return false }
        records[at: place].phase = .waiting
        records[at: place].failures = 0
        scheduler.add(
            at: place, of: id.feedback, group: records[at: place].group, priority: records[at: place].priority)
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
    var phases: [EffectID: EffectPhase] {
        Dictionary(uniqueKeysWithValues: records.map { ($0.key, $0.value.phase) })
    }

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

/// An effect that has failed for good and has no event for it. It remains listed until its request vanishes or it is retried.
public struct ParkedEffect: Equatable, Sendable {
    /// The effect's ID in the loop, by which it can be retried.
    public let id: EffectID
    /// The name of its feedback.
    public let feedback: String
    /// How many attempts have failed.
    public let failures: Int
    /// The text of the last error.
    public let reason: String

    /// Creates a parked effect from its parts.
    package init(id: EffectID, feedback: String, failures: Int, reason: String) {
        self.id = id
        self.feedback = feedback
        self.failures = failures
        self.reason = reason
    }
}
