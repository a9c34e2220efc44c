/// A virtual clock that runs no tasks: a loop with this clock runs on Swift's own threads, as it does in a product.
///
/// The clock cannot know when everything waits, so a test names the sleeper for which it waits before time passes.
package final class PoolClock: Clock {
    package typealias Instant = VirtualClock.Instant

    private let clock = VirtualClock()

    package init() {}

    package var now: Instant { clock.now }

    package var minimumResolution: Duration { clock.minimumResolution }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline, tolerance: tolerance)
    }

    /// Returns when a task sleeps until exactly this time.
    package func sleeper(until offset: Duration) async { await clock.sleeper(until: Instant(offset: offset)) }

    /// Advances to this time, and wakes the tasks that sleep until then.
    package func advance(to offset: Duration) { clock.advance(by: max(.zero, offset - now.offset)) }

    /// Waits until a task sleeps until exactly this time, and advances to it.
    package func advance(toSleeperAt offset: Duration) async {
        await sleeper(until: offset)
        advance(to: offset)
    }
}
