import LoopCollections
package import LoopTesting

/// A virtual clock that runs no tasks: a loop with this clock runs on Swift's own threads, as it does in a product.
///
/// The clock cannot know when everything waits, so a test names the sleeper for which it waits before time passes.
package final class PoolClock: Clock {
    package typealias Instant = VirtualClock.Instant

    private struct Content: Sendable {
        var deadlines: [Instant] = []
        /// The tasks that wait until another task sleeps until a time.
        var watchers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let clock = VirtualClock()
    private let content = Locked(Content())

    package init() {}

    package var now: Instant { clock.now }

    package var minimumResolution: Duration { clock.minimumResolution }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let seen = content.withLock { content in
            content.deadlines.append(deadline)
            defer { content.watchers.removeAll { $0.deadline == deadline } }
            return content.watchers.filter { $0.deadline == deadline }
        }
        defer {
            content.withLock { content in
                if let index = content.deadlines.firstIndex(of: deadline) { content.deadlines.remove(at: index) }
            }
        }
        for watcher in seen { watcher.continuation.resume() }
        // If a watcher advances the clock to the deadline before the task sleeps, this returns at once.
        try await clock.sleep(until: deadline, tolerance: tolerance)
    }

    /// Returns when a task sleeps until exactly this time.
    package func sleeper(until offset: Duration) async {
        let deadline = Instant(offset: offset)
        await withCheckedContinuation { continuation in
            let isThere = content.withLock { content in
                if content.deadlines.contains(deadline) { return true }
                content.watchers.append((deadline, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Advances to this time, and wakes the tasks that sleep until then.
    package func advance(to offset: Duration) { clock.advance(by: max(.zero, offset - now.offset)) }

    /// Waits until a task sleeps until exactly this time, and advances to it.
    package func advance(toSleeperAt offset: Duration) async {
        await sleeper(until: offset)
        advance(to: offset)
    }
}
