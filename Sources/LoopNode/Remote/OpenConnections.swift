internal import Glibc
internal import LoopCore
internal import LoopCollections

/// The connections of this process whose threads run. A normal exit (`exit`, or the return from main) ends each of them. It waits
/// for the outcome of what was accepted, up to a limit. The end of a process by a signal does not wait.
enum OpenConnections {
    /// What the exit needs to know about a connection.
    struct Entry: Sendable {
        /// The address of the reducer, for people.
        let reducer: ReducerAddress
        /// How long its end may take.
        let limit: Duration
        /// Asks it to end.
        let stop: @Sendable () -> Void
        /// Whether its thread has finished.
        let isOver: Monitor<Bool>
        /// Whether the caller runs on its thread, which cannot wait for itself.
        let isOwnThread: @Sendable () -> Bool
    }

    private struct Registry {
        var entries: [Int: Entry] = [:]
        var next = 0
        var isWatched = false
    }

    private static let registry = Locked(Registry())
    /// How long the exit waits beyond a connection's own limit, for its last messages.
    private static let margin = Duration.seconds(1)

    static func add(_ entry: Entry) -> Int {
        let (id, isFirst) = registry.withLock { registry in
            registry.next += 1
            registry.entries[registry.next] = entry
            defer { registry.isWatched = true }
            return (registry.next, !registry.isWatched)
        }
        if isFirst { atexit { OpenConnections.endAll() } }
        return id
    }

    static func remove(_ id: Int) { registry.withLock { _ = $0.entries.removeValue(forKey: id) } }

    /// Ends all connections at once, so that the slowest one decides how long it takes.
    private static func endAll() {
        let entries = registry.withLock { $0.entries.sorted { $0.key < $1.key }.map(\.value) }
        for entry in entries { entry.stop() }
        let began = SystemClock.monotonic
        for entry in entries {
            let left = entry.limit + margin - (SystemClock.monotonic - began)
            if !entry.isOwnThread(), entry.isOver.wait(until: { $0 }, timeout: max(left, .zero)) { continue }
            StandardError.line(
                "the connection to \(entry.reducer) is busy and did not end with the process: what it had accepted may be"
                    + " lost")
        }
        StandardError.flush(within: margin)
    }
}
