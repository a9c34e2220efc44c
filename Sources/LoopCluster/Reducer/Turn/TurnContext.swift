import LoopCore

/// What every part of a reducer needs during a turn: the limits, the rules that a test breaks, and the time.
struct TurnContext: Sendable {
    let configuration: ReducerConfiguration
    let brokenRules: BrokenRules
    var clock: ReducerClock

    var now: Moment { clock.now }

    func breaks(_ rule: Rule) -> Bool { brokenRules.contains(rule) }

    /// The time of the next event from an effect, a client or a timer.
    /// - Parameter time: the time of the newest record, which the result never precedes.
    func eventTime(after time: WallTime) -> WallTime { breaks(.timeNeverGoesBack) ? now.wall : clock.wall(after: time) }
}

/// The reducer's time. The shell sets it, and it never goes back.
struct ReducerClock: Sendable {
    private(set) var now: Moment
    /// The beginning of the epoch, plus the times for which the process was suspended. A peer that has sent nothing since then
    /// is silent.
    private(set) var listensSince: MonotonicTime
    /// The journaled time at which the epoch began.
    private(set) var epochTime = WallTime(milliseconds: 0)
    private var advancedAt: MonotonicTime

    init(at now: Moment) {
        self.now = now
        listensSince = now.monotonic
        advancedAt = now.monotonic
    }

    mutating func epochBegan(at time: WallTime) { epochTime = time }

    mutating func pass(to now: Moment) { if self.now.monotonic < now.monotonic { self.now = now } }

    /// Ends the time of a turn.
    /// - Returns: how long the process was suspended before this turn, or nil if it was not. A machine may have been suspended
    ///   for days. Its peers' messages did not come meanwhile, so these peers do not count as silent.
    mutating func advance(silenceLimit: Duration) -> Duration? {
        defer { advancedAt = now.monotonic }
        guard stoodStill(silenceLimit: silenceLimit) else { return nil }
        let gap = now.monotonic - advancedAt
        listensSince = min(listensSince + gap, now.monotonic)
        return gap
    }

    /// Whether the process was suspended before this turn. What its peers have sent meanwhile may not be read yet.
    func stoodStill(silenceLimit: Duration) -> Bool {
        let gap = now.monotonic - advancedAt
        return gap + gap > silenceLimit
    }

    /// When the civil clock will show a time, by the steady clock, unless it is set. Nil if that time is too far away.
    func steadyTime(of time: WallTime, after journaled: WallTime) -> MonotonicTime? {
        let wall = wall(after: journaled)
        guard time > wall else { return now.monotonic }
        let (wait, overflow) = time.milliseconds.subtractingReportingOverflow(wall.milliseconds)
        return overflow ? nil : now.monotonic + .milliseconds(wait)
    }

    /// The time of the next record, which is never before that of an earlier one.
    func wall(after time: WallTime) -> WallTime { max(now.wall, time) }
}

extension TurnContext {
    /// How many numbered messages may be under way to one member.
    var inboxWindow: UInt64 { breaks(.inboxesAreBounded) ? .max : configuration.inboxWindow }

    /// The largest payload of a message of acknowledgements or outcomes.
    var outcomesBytesMax: Int { breaks(.messagesComeInParts) ? .max : configuration.payloadBytesMax }
}
