/// The time by which a loop in this process retries, limits and bounds its effects: any `Clock`, so that a test can
/// bring its own.
struct LoopClock: Sendable {
    /// The time since the clock was wrapped.
    let now: @Sendable () -> MonotonicTime
    /// Sleeps until a time; throws when its task is cancelled.
    let sleep: @Sendable (_ until: MonotonicTime) async throws -> Void

    /// Where the loop's tasks run: a clock that is an executor too runs them itself; nil: wherever Swift runs tasks.
    let executor: (any TaskExecutor)?

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        executor = clock as? any TaskExecutor
        let begin = clock.now
        now = { MonotonicTime.zero + begin.duration(to: clock.now) }
        sleep = { time in try await clock.sleep(until: begin.advanced(by: time - .zero), tolerance: nil) }
    }
}
