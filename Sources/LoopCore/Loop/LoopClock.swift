internal import LoopLock

/// A clock that also knows the time of day, such as a virtual one. Loops in this process take the times of their transitions
/// and timers from it. With any other clock but those of the system, the time of day goes on from the present one as that
/// clock does.
public protocol CivilClock: Clock where Duration == Swift.Duration {
    /// The time of day.
    var wallTime: WallTime { get }
}

/// The time by which a loop in this process retries, limits and bounds its effects: any `Clock`, so that a test can
/// bring its own.
struct LoopClock: Sendable {
    /// The time since the clock was wrapped.
    let now: @Sendable () -> MonotonicTime
    /// Sleeps until a time; throws when its task is cancelled.
    let sleep: @Sendable (_ until: MonotonicTime) async throws -> Void

    /// The time of day of the clock; nil: it is the system's.
    let wallTime: (@Sendable () -> WallTime)?

    /// Where the loop's tasks run: a clock that is an executor too runs them itself; nil: wherever Swift runs tasks.
    let executor: (any TaskExecutor)?

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        executor = clock as? any TaskExecutor
        let begin = clock.now
        if let civil = clock as? any CivilClock {
            wallTime = { civil.wallTime }
        } else if clock is ContinuousClock || clock is SuspendingClock {
            wallTime = nil
        } else {
            let wall = WallTime(milliseconds: WallClock.milliseconds)
            wallTime = { wall + begin.duration(to: clock.now) }
        }
        now = { MonotonicTime.zero + begin.duration(to: clock.now) }
        sleep = { time in try await clock.sleep(until: begin.advanced(by: time - .zero), tolerance: nil) }
    }

    /// Both clocks.
    var moment: Moment {
        Moment(
            monotonic: now(), wall: wallTime?() ?? WallTime(milliseconds: WallClock.milliseconds))
    }

    /// How long the time of day is trusted to go on as it does: that of the system may be set.
    var trust: Duration? { wallTime == nil ? .seconds(60) : nil }
}
