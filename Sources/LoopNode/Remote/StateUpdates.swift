internal import LoopCluster
internal import LoopWire

/// How a loop's state comes to a process that follows it. Whatever is chosen, the states shown existed, come in order, and end
/// with the newest.
///
///     let loop = try RemoteLoop(Traffic.self, reducer: address, updates: .delta(atMost: 5))
public struct StateUpdates: Equatable, Sendable {
    let mode: UpdateStream.Mode
    /// The shortest time between two updates, in milliseconds.
    let interval: UInt32

    /// Whole states, as often as the reducer publishes them, which is ten times a second.
    public static let full = StateUpdates(mode: .full, interval: 0)

    /// Changes alone: of each `TrackedDictionary` its changed entries, and everything else whole. The state is fetched once,
    /// and again if an update was lost.
    public static let delta = StateUpdates(mode: .delta, interval: 0)

    /// Whole states, at most `perSecond` of them in a second.
    public static func full(atMost perSecond: Double) -> StateUpdates {
        StateUpdates(mode: .full, interval: interval(perSecond))
    }

    /// Changes alone, at most `perSecond` updates in a second. Each update has all changes since the previous one.
    public static func delta(atMost perSecond: Double) -> StateUpdates {
        StateUpdates(mode: .delta, interval: interval(perSecond))
    }

    private static func interval(_ perSecond: Double) -> UInt32 {
        let milliseconds = (1000 / perSecond).rounded()
        // Intervals are whole milliseconds, an hour at most, so that observers with the same wish share a stream.
        return milliseconds > 0 ? UInt32(min(milliseconds, 3_600_000)) : milliseconds < 0 ? 3_600_000 : 0
    }

    /// - Parameter section: the name of a section, or an empty string for the whole state.
    func following(_ section: String = "") -> Following { .updates(mode, of: section, interval: interval) }
}
