// Schedules: feedbacks that ask for nothing in the state. Whoever owns the state runs them itself, and keeps where they stand.

extension Feedback {
    /// Sends an event whenever a schedule says so, whatever the state is.
    ///
    /// In a cluster, the reducer keeps where the schedule stands in its journal, and each run is one record: no run is repeated
    /// or lost by a restart. A schedule begins when the definition first has it, and begins anew when the definition has
    /// another one under its name.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop. Operators know the schedule by it.
    ///   - schedule: when it runs.
    ///   - missed: what becomes of the runs whose time has passed while nothing ran the loop.
    ///   - event: what a run sends.
    public static func schedule(
        _ name: String, _ schedule: Schedule, missed: MissedRuns = .once,
        event: @escaping @Sendable (ScheduleRun) -> Event
    ) -> Feedback {
        Feedback(name: name, schedule: FeedbackSchedule(schedule: schedule, missed: missed, event: event))
    }
}

/// A schedule, and what its runs send.
package struct FeedbackSchedule<Event: Sendable>: Sendable {
    package let schedule: Schedule
    package let missed: MissedRuns
    package let event: @Sendable (ScheduleRun) -> Event

    /// The same in a loop with other events.
    func map<Other: Sendable>(_ embed: @escaping @Sendable (Event) -> Other) -> FeedbackSchedule<Other> {
        FeedbackSchedule<Other>(schedule: schedule, missed: missed) { [event] in embed(event($0)) }
    }
}
