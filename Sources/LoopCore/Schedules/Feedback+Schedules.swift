// Schedules: feedbacks that do not depend on the state. The owner of the state runs them itself and keeps their standing.

extension Feedback {
    /// Sends an event at the times of a schedule, whatever the state is.
    ///
    /// In a cluster, the reducer keeps the schedule's standing in its journal, and each run is one record. So a restart
    /// repeats or loses no run. A schedule begins when the definition first has it. It begins again when the definition has
    /// another one under its name.
    /// - Parameters:
    ///   - name: the feedback's name, the same in every process and unique in the loop. Operators know the schedule by it.
    ///     With nil it is named for the place of the call in the source.
    ///   - schedule: the times of its runs.
    ///   - missed: what happens to runs whose time passed while no process ran the loop.
    ///   - event: the event of a run.
    ///   - file: the file of the call, for the name.
    ///   - line: the line of the call, for the name.
    ///   - column: the column of the call, for the name.
    public static func schedule(
        _ name: String?, _ schedule: Schedule, missed: MissedRuns = .once,
        event: @escaping @Sendable (ScheduleRun) -> Event,
        file: String = #fileID, line: UInt = #line, column: UInt = #column
    ) -> Feedback {
        Feedback(
            name: name ?? place(file, line, column), placement: .reducer,
            kind: .schedule(FeedbackSchedule(schedule: schedule, missed: missed, event: event)))
    }
}

/// A schedule, and the event of a run.
package struct FeedbackSchedule<Event: Sendable>: Sendable {
    package let schedule: Schedule
    package let missed: MissedRuns
    package let event: @Sendable (ScheduleRun) -> Event

    /// This schedule in a loop with other events.
    func map<Other: Sendable>(_ embed: @escaping @Sendable (Event) -> Other) -> FeedbackSchedule<Other> {
        FeedbackSchedule<Other>(schedule: schedule, missed: missed) { [event] in embed(event($0)) }
    }
}
