package import LoopCore

/// Decides whether and when a process is started again, and how it is stopped. A pure machine; the shell around it starts
/// processes and reports their ends.
///
///     idle ──start──▶ running ──exited──▶ backing off ──time──▶ running …
///                        │                     │
///                       stop                too many crashes, a code that a restart does not cure, success
///                        ▼                     ▼
///                     stopping ──exited──▶   ended
package struct Supervisor: Sendable, Equatable {
    /// How the supervisor reacts to an end that was not requested.
    package struct Policy: Sendable, Equatable {
        /// The pause after the first crash. It doubles with each further crash.
        package var firstDelay: Duration = .milliseconds(200)
        /// The longest pause.
        package var delayMax: Duration = .seconds(10)
        /// A run of at least this length resets the pause.
        package var stableAfter: Duration = .seconds(10)
        /// With more crashes than this within the window, the supervisor gives up.
        package var crashesMax: Int = 5
        /// The time over which crashes are counted.
        package var crashWindow: Duration = .seconds(60)
        /// Exit codes that a restart does not cure, such as wrong usage.
        package var hopelessCodes: Set<Int32> = [64]
        /// How long a process may take from SIGTERM to its end, before SIGKILL.
        package var stopGrace: Duration = .seconds(5)

        /// The standard policy: short pauses that grow, and five crashes a minute.
        package init() {}
    }

    /// What the shell has to do now.
    package enum Action: Sendable, Equatable {
        case none
        /// Start the process, and later call `exited` or `startFailed`.
        case start
        /// Send SIGTERM.
        case terminate
        /// Send SIGKILL.
        case kill
        /// Do nothing any more.
        case finish(Ending)
    }

    /// Why it is over.
    package enum Ending: Sendable, Hashable {
        /// It ended by itself with code 0.
        case done
        /// It was stopped, with its exit, or nil if it was not running.
        case stopped(ProcessExit?)
        /// It ended with a code that a restart does not cure.
        case hopeless(ProcessExit)
        /// It crashed too often: the crashes within the window, and the last exit, or nil if it could not even be started.
        case gaveUp(crashes: Int, last: ProcessExit?)
    }

    private enum State: Sendable, Equatable {
        /// Not begun.
        case idle
        /// The process runs, or is being started.
        case running(since: MonotonicTime)
        /// It crashed and is started again at this time.
        case backingOff(until: MonotonicTime)
        /// SIGTERM was sent. SIGKILL follows at this time; nil once it was sent.
        case stopping(killAt: MonotonicTime?)
        /// Nothing follows.
        case ended(Ending)
    }

    /// When the process is started again, and when it is given up.
    package let policy: Policy
    private var state = State.idle
    /// The times of the crashes within the window.
    private var crashes: [MonotonicTime] = []
    /// The pause after the next crash.
    private var delay: Duration

    /// Creates a supervisor of a process that has not been started.
    package init(_ policy: Policy = Policy()) {
        self.policy = policy
        delay = policy.firstDelay
    }

    /// When ``advance(to:)`` has something to do, or nil if never.
    package var deadline: MonotonicTime? {
        switch state {
        case .backingOff(let until): until
        case .stopping(let killAt): killAt
        case .idle, .running, .ended: nil
        }
    }

    /// Why it is over, or nil before that.
    package var ending: Ending? { if case .ended(let ending) = state { ending } else { nil } }

    /// Starts the process. Has an effect once.
    package mutating func start(at now: MonotonicTime) -> Action {
        guard case .idle = state else { return .none }
        state = .running(since: now)
        return .start
    }

    /// Notes that the process has ended.
    package mutating func exited(_ status: ProcessExit, at now: MonotonicTime) -> Action {
        switch state {
        case .running(let since):
            if status.isSuccess { return end(.done) }
            if case .exited(let code) = status, policy.hopelessCodes.contains(code) { return end(.hopeless(status)) }
            if now - since >= policy.stableAfter { delay = policy.firstDelay }
            return crashed(status, at: now)
        case .stopping:
            return end(.stopped(status))
        case .idle, .backingOff, .ended:
            return .none
        }
    }

    /// Notes that the process could not be started, which counts as a crash.
    package mutating func startFailed(at now: MonotonicTime) -> Action {
        switch state {
        case .running: crashed(nil, at: now)
        case .stopping: end(.stopped(nil))
        case .idle, .backingOff, .ended: .none
        }
    }

    /// Does what is due: a restart, or SIGKILL.
    package mutating func advance(to now: MonotonicTime) -> Action {
        switch state {
        case .backingOff(let until) where until <= now:
            state = .running(since: now)
            return .start
        case .stopping(let killAt?) where killAt <= now:
            state = .stopping(killAt: nil)
            return .kill
        case .idle, .running, .backingOff, .stopping, .ended:
            return .none
        }
    }

    /// Stops the process, because it is not needed any more.
    package mutating func stop(at now: MonotonicTime) -> Action {
        switch state {
        case .running:
            state = .stopping(killAt: now + policy.stopGrace)
            return .terminate
        case .idle, .backingOff:
            return end(.stopped(nil))
        case .stopping, .ended:
            return .none
        }
    }

    private mutating func crashed(_ status: ProcessExit?, at now: MonotonicTime) -> Action {
        crashes.removeAll { now - $0 > policy.crashWindow }
        crashes.append(now)
        if crashes.count > policy.crashesMax { return end(.gaveUp(crashes: crashes.count, last: status)) }
        state = .backingOff(until: now + delay)
        delay = min(delay * 2, policy.delayMax)
        return .none
    }

    private mutating func end(_ ending: Ending) -> Action {
        state = .ended(ending)
        return .finish(ending)
    }
}
