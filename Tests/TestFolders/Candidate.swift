internal import LoopCluster
package import LoopCollections
package import LoopNode

/// A process that follows a journal and waits for it, as the journal sees it.
package struct Candidate: Sendable {
    /// How often it has looked whether the journal is free.
    package let looks = Locked(0)
    /// Whether it has the journal.
    package let isOpen = Locked(false)
    /// Whether it gives up.
    package let isStopping = Locked(false)

    package init() {}

    /// Describes how it opens the journal.
    /// - Parameter report: how far it has followed the journal.
    package func opening(following report: @escaping @Sendable () -> FollowingReport) -> JournalPlace.Opening {
        var opening = JournalPlace.Opening(
            loop: "test", durability: .fsync, waits: true,
            whileWaiting: { [looks] _ in
                looks.withLock { $0 += 1 }
                return true
            }, isStopping: { [isStopping] in isStopping.withLock { $0 } }, note: { _ in })
        opening.lease = .seconds(3600)
        opening.following = report
        return opening
    }

    /// Waits until it has looked so often, or has the journal.
    package func wait(forLooks count: Int) async throws {
        while looks.withLock({ $0 }) < count, !isOpen.withLock({ $0 }) {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
