import LoopCore
import LoopWire

/// A clock that was ahead and was set right is behind the times in the journal. Timers and schedules do not run until it has caught up.
/// (Protocol, section 6.)
extension ReducerCore {
    /// How far the clock is behind, or nil if that is less than five seconds.
    var clockLag: Duration? {
        let (lag, overflow) = journaled.time.milliseconds.subtractingReportingOverflow(context.now.wall.milliseconds)
        let wait = Duration.milliseconds(overflow ? .max : lag)
        return wait >= .seconds(5) ? wait : nil
    }

    /// Tells people that the clock is behind, and later that it has caught up. Called at each tick.
    mutating func tellClock() {
        let lag = clockLag
        guard (lag != nil) != isClockBehind else { return }
        isClockBehind = lag != nil
        turn.news.append(lag.map { .clockBehind($0, until: journaled.time) } ?? .clockCaughtUp)
    }

    var clockWarning: String? {
        guard let lag = clockLag else { return nil }
        return
            "THE CLOCK IS \(Self.text(lag)) BEHIND THE JOURNAL: it was ahead, and timers and schedules stand still until"
            + " \(journaled.time.civilText); if it is right now, start the reducer once with --accept-clock"
    }

    private static func text(_ lag: Duration) -> String {
        let seconds = lag.components.seconds
        let (days, hours, minutes) = (seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60)
        let parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds % 60, "s")].drop { $0.0 == 0 }
        return parts.prefix(2).map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    /// Sets the loop's time back to the clock if an operator has said that the clock is right. Called when an epoch begins.
    mutating func acceptClock() {
        guard context.configuration.acceptsClock, clockLag != nil else { return }
        write(.operatorAction(OperatorAction(.acceptClock, by: "--accept-clock", at: context.now.wall)))
    }
}
