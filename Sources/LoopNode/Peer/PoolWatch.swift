import LoopCore
import Synchronization

/// Detects that no thread of Swift's pool is free while bodies of effects run there. It starts a task from time to time, which
/// shows whether the pool runs anything. One thread uses it.
struct PoolWatch {
    private final class Probe: Sendable {
        let hasRun = Atomic(false)
    }

    private var probe: Probe?
    private var lookedAt = MonotonicTime.zero
    /// How long the probe has waited, or how long ago the last one ran. A gap between two calls counts for one interval at
    /// most, because the whole process may have been stopped.
    private var elapsed = Duration.zero
    private var isTold = false

    private static var interval: Duration { .seconds(1) }
    /// How long the pool may run nothing before it counts as blocked.
    static var limit: Duration { .seconds(3) }

    /// - Parameter mayBeBlocked: whether as many bodies run as the pool has threads.
    /// - Returns: true if the pool has run nothing for the limit, once for each blockage.
    mutating func isBlocked(at now: MonotonicTime, mayBeBlocked: Bool) -> Bool {
        elapsed = elapsed + min(now - lookedAt, Self.interval)
        lookedAt = now
        if let probe {
            guard probe.hasRun.load(ordering: .acquiring) else {
                guard elapsed >= Self.limit, !isTold else { return false }
                isTold = true
                return true
            }
            self.probe = nil
            (elapsed, isTold) = (.zero, false)
        } else if mayBeBlocked, elapsed >= Self.interval {
            let probe = Probe()
            self.probe = probe
            elapsed = .zero
            Task.detached { probe.hasRun.store(true, ordering: .releasing) }
        }
        return false
    }
}
