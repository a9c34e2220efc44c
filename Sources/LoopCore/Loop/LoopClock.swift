internal import LoopCollections

/// A clock that also has the time of day, such as a virtual one. Loops in this process take the times of their transitions
/// and timers from it. With any other clock except the system's, the time of day starts at the present one and advances
/// with that clock.
public protocol CivilClock: Clock where Duration == Swift.Duration {
    /// The time of day.
    var wallTime: WallTime { get }
}

/// The clock by which a loop in this process retries, limits and bounds its effects. It wraps any `Clock`, so that a test
/// can pass its own.
struct LoopClock: Sendable {
    /// The time since the clock was wrapped.
    let now: @Sendable () -> MonotonicTime
    /// Sleeps until a time; throws when its task is cancelled.
    let sleep: @Sendable (_ until: MonotonicTime) async throws -> Void

    /// The time of day of the clock, or nil for the system's.
    let wallTime: (@Sendable () -> WallTime)?

    /// The executor of the loop's tasks: the clock, if it is an executor too; or nil for Swift's default.
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

    /// A reading of both clocks.
    var moment: Moment {
        Moment(
            monotonic: now(), wall: wallTime?() ?? WallTime(milliseconds: WallClock.milliseconds))
    }

    /// How long a reading of the time of day is valid, because the system's clock may be set.
    var trust: Duration? { wallTime == nil ? .seconds(60) : nil }
}
