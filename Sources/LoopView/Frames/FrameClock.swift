package import LoopCore

/// Decides when to draw: at once if the last frame is at least one interval ago, else when the interval is over. A frame always
/// follows the last change.
///
///     resting ──changed──▶ due at the later of now and the last frame + interval
///        ▲                   │
///        └── advance: draw ──┘
package struct FrameClock: Equatable, Sendable {
    private enum Phase: Equatable {
        /// The last frame shows the latest state.
        case resting
        /// A change is not drawn yet. The next frame is due at this time.
        case due(MonotonicTime)
    }

    /// The least time between two frames.
    package let interval: Duration
    private var phase = Phase.resting
    private var last: MonotonicTime?

    /// - Parameter interval: the least time between two frames; with zero, every change is drawn at once.
    package init(interval: Duration) { self.interval = max(interval, .zero) }

    /// - Parameter framesPerSecond: the largest number of frames per second, from 1 to 1000.
    package init(framesPerSecond: Int) {
        self.init(interval: .nanoseconds(1_000_000_000 / min(max(framesPerSecond, 1), 1000)))
    }

    /// Notes that the state has changed, or that nothing was drawn yet.
    package mutating func changed(at now: MonotonicTime) {
        guard case .resting = phase else { return }
        phase = .due(max(now, last.map { $0 + interval } ?? now))
    }

    /// Returns whether to draw the latest state now.
    package mutating func advance(to now: MonotonicTime) -> Bool {
        guard case .due(let time) = phase, now >= time else { return false }
        phase = .resting
        last = now
        return true
    }

    /// When to advance, or nil while nothing has changed.
    package var deadline: MonotonicTime? { if case .due(let time) = phase { time } else { nil } }
}
