public import LoopCore
internal import LoopCollections

/// A clock whose time passes only when a test advances it. It runs the tasks of a loop, so that it knows when all of them wait.
///
/// ```swift
/// let clock = VirtualClock()
/// let loop = Loop(TrafficLight(clock: clock), clock: clock)
/// clock.advance(by: .seconds(1))
/// #expect(loop.state == .green)
/// ```
///
/// A `Loop` runs its effects, timers and custom feedbacks as tasks on its clock: on the thread that calls `advance(by:)`, `run()`
/// or `settle()`, one after the other, in a deterministic order. The call returns when all of them wait, so that a test needs no
/// sleeping, no polling and no `await`.
///
/// That is true as long as effects wait only for this clock and each other. The clock does not wait for work elsewhere, because it
/// cannot know of it: the main actor, unstructured tasks, other clocks, files and networks. `settle(until:)` is for tests of such
/// effects.
public final class VirtualClock: CivilClock, TaskExecutor {
    /// A time of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public var offset: Duration

        /// Creates a time from the duration since the clock was made.
        public init(offset: Duration) { self.offset = offset }

        /// The time that is later by `duration`, or earlier if that is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// How long after this time the other one is, or a negative duration if it is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Whether one time is before another.
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct Sleeper: Sendable {
        var token: UInt64
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Content: Sendable {
        var now = Instant(offset: .zero)
        /// The sleepers by deadline. Sleepers with one deadline are in the order in which they began to sleep.
        var sleepers: [Sleeper] = []
        /// The sleepers whose tasks were cancelled before they began to sleep.
        var cancelled: Set<UInt64> = []
        var nextToken: UInt64 = 0
        /// The jobs that are ready to run.
        var jobs: [UnownedJob] = []
        var nextJob = 0
        var isRunning = false
        /// The task that waits for a job to become ready.
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let content = Locked(Content())
    private let start: WallTime

    /// Creates a clock whose time is zero.
    /// - Parameter wallTime: the time of day at zero, for the transitions and timers of loops.
    public init(wallTime: WallTime = WallTime(milliseconds: 0)) { start = wallTime }

    // MARK: The clock

    /// The time to which a test has advanced the clock.
    public var now: Instant { content.withLock { $0.now } }

    /// The time of day to which a test has advanced the clock.
    public var wallTime: WallTime { start + now.offset }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks sleep on this clock, timers of loops included.
    package var sleepersCount: Int { content.withLock { $0.sleepers.count } }

    /// Waits until a test has advanced the clock to `deadline`. Returns at once if the time has passed already.
    /// - Parameters:
    ///   - deadline: the time to wait for.
    ///   - tolerance: ignored; sleepers wake up exactly at their deadlines.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let token = content.withLock { content in
            content.nextToken += 1
            return content.nextToken
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(Sleeper(token: token, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let sleeper = content.withLock { content -> Sleeper? in
                if let index = content.sleepers.firstIndex(where: { $0.token == token }) {
                    return content.sleepers.remove(at: index)
                }
                content.cancelled.insert(token)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func enter(_ sleeper: Sleeper) {
        let result = content.withLock { content -> Result<Void, any Error>? in
            if content.cancelled.remove(sleeper.token) != nil { return .failure(CancellationError()) }
            if sleeper.deadline <= content.now { return .success(()) }
            let index = content.sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? content.sleepers.endIndex
            content.sleepers.insert(sleeper, at: index)
            return nil
        }
        if let result { sleeper.continuation.resume(with: result) }
    }

    // MARK: Time passes

    /// Lets time pass. Each sleeper wakes up at its moment, and everything that it does is done before the next wakes up.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "the clock was advanced by \(duration); time does not go back")
        let end = now.advanced(by: duration)
        settle()
        while wakeNext(until: end) { settle() }
        content.withLock { $0.now = max($0.now, end) }
    }

    /// Lets time pass until no task sleeps.
    /// - Parameter wakesMax: the number of awakenings after which it stops.
    /// - Returns: false if it stopped there, as it must for a loop that runs forever.
    @discardableResult
    public func run(wakesMax: Int = 100_000) -> Bool {
        settle()
        for _ in 0..<wakesMax {
            guard wakeNext(until: nil) else { return true }
            settle()
        }
        return sleepersCount == 0
    }

    /// Runs all ready jobs, until everything waits. No time passes. It does nothing if a job calls it.
    public func settle() {
        let isFirst = content.withLock { content in
            defer { content.isRunning = true }
            return !content.isRunning
        }
        guard isFirst else { return }
        while let job = takeJob() { run(job) }
    }

    /// Runs everything that becomes ready, from any source, until the condition is true. No time passes on this clock.
    ///
    /// This is for effects that also wait for something that this clock does not know. The condition is checked whenever something
    /// has run.
    /// - Throws: `CancellationError` if the waiting task is cancelled, as a test's is by its time limit.
    public func settle(until condition: () -> Bool) async throws {
        while true {
            settle()
            if condition() { return }
            try Task.checkCancellation()
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = content.withLock { content in
                        if content.nextJob < content.jobs.count || Task.isCancelled { return true }
                        content.waiter = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                content.withLock { $0.waiter.take() }?.resume()
            }
        }
    }

    /// Wakes the next sleeper. Returns false if no task sleeps until this time.
    private func wakeNext(until end: Instant?) -> Bool {
        let sleeper = content.withLock { content -> Sleeper? in
            guard let first = content.sleepers.first, end.map({ first.deadline <= $0 }) ?? true else { return nil }
            content.now = max(content.now, first.deadline)
            return content.sleepers.removeFirst()
        }
        sleeper?.continuation.resume()
        return sleeper != nil
    }

    // MARK: The executor

    /// Accepts a job of a task on this clock. It runs when the test advances or settles the clock.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        content.withLock { content -> CheckedContinuation<Void, Never>? in
            content.jobs.append(job)
            return content.waiter.take()
        }?.resume()
    }

    /// The next job, or nil if there is none. The caller that makes the next one ready must then run it.
    private func takeJob() -> UnownedJob? {
        content.withLock { content in
            guard content.nextJob < content.jobs.count else {
                content.jobs.removeAll(keepingCapacity: true)
                content.nextJob = 0
                content.isRunning = false
                return nil
            }
            defer { content.nextJob += 1 }
            return content.jobs[content.nextJob]
        }
    }
}
