import LoopCore

/// A clock that is behind the times in the journal, because it was ahead before or is wrong now. Timers and schedules do not
/// run until it has caught up. (Protocol, section 6.)
extension ReducerMachine {
    /// The time of the next record. If the clock was set back, it is the time of the newest record.
    var recordTime: WallTime { context.clock.wall(after: journaled.time) }

    /// How far the clock is behind, or nil if that is less than five seconds.
    var clockLag: Duration? {
        let (lag, overflow) = journaled.time.milliseconds.subtractingReportingOverflow(context.now.wall.milliseconds)
        let wait = Duration.milliseconds(overflow ? .max : lag)
        return wait >= .seconds(5) ? wait : nil
    }

    /// Reports that the clock is behind, and later that it has caught up. Called at each tick.
    mutating func tellClock() {
        guard (clockLag != nil) != isClockBehind else { return }
        isClockBehind.toggle()
        if let clockLag, let clockWarning {
            turn.news.append(.clockBehind(clockLag, clockWarning))
        } else {
            turn.news.append(.clockCaughtUp)
        }
    }

    var clockWarning: String? {
        guard let lag = clockLag else { return nil }
        return
            "THE CLOCK IS \(lag.text) BEHIND THE JOURNAL: it was ahead before, or it is wrong now. Timers and schedules do not run"
            + " until \(journaled.time.civilText). If the clock is right, start the reducer once with --accept-clock"
    }

    /// Sets the loop's time back to the clock if an operator has accepted the clock. Called when an epoch begins.
    mutating func acceptClock() {
        guard context.configuration.acceptsClock, let lag = clockLag else { return }
        turn.news.append(.clockAccepted(lag))
        write(.operatorAction(OperatorAction(.acceptClock, by: "--accept-clock", at: context.now.wall)))
    }
}
