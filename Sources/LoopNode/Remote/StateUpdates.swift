internal import LoopCluster
internal import LoopCore
internal import LoopWire

/// How a loop's state comes to a process that follows it. Whatever is chosen, what is shown are states that existed, in
/// order, and at last the newest.
///
///     let loop = try RemoteLoop(Traffic.self, reducer: address, updates: .delta(atMost: 5))
public struct StateUpdates: Equatable, Sendable {
    let mode: UpdateStream.Mode
    /// Milliseconds between two updates, at least.
    let interval: UInt32

    /// Each update is the whole state; as often as the reducer publishes it, which is ten times a second.
    public static let full = StateUpdates(mode: .full, interval: 0)

    /// Each update says what has changed: of each `TrackedDictionary` its changed entries, of everything else all. The
    /// state is fetched once, and again where an update was lost.
    public static let delta = StateUpdates(mode: .delta, interval: 0)

    /// Whole states, and no more of them in a second.
    public static func full(atMost perSecond: Double) -> StateUpdates {
        StateUpdates(mode: .full, interval: interval(perSecond))
    }

    /// What has changed, and not more often in a second: each says all that has changed since the one before.
    public static func delta(atMost perSecond: Double) -> StateUpdates {
        StateUpdates(mode: .delta, interval: interval(perSecond))
    }

    private static func interval(_ perSecond: Double) -> UInt32 {
        let milliseconds = (1000 / perSecond).rounded()
        // Observers that mean the same share a stream: nothing between whole milliseconds, and an hour at most.
        return milliseconds > 0 ? UInt32(min(milliseconds, 3_600_000)) : milliseconds < 0 ? 3_600_000 : 0
    }

    /// - Parameter section: empty for the whole state.
    func following(_ section: String = "") -> Following { .updates(mode, of: section, interval: interval) }
}
