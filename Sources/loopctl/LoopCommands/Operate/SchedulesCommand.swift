import Linux
internal import LoopCore
import LoopNode
import LoopWire

/// `loopctl schedules` lists the schedules with their next runs, and pauses, resumes or runs one.
enum SchedulesCommand {
    static let schedule = Option(positional: "NAME", .string, help: "the schedule as the list names it")

    static let subcommand = Subcommand(
        asking: Command(
            "schedules", abstract: "List the schedules with their next runs; pause, resume or run one.",
            discussion: """
                A schedule that is paused does not run until it is resumed. The runs of that time are left out. A run that is \
                asked for comes besides those of the schedule, also while it is paused.

                Exit codes: 0 done, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group],
            subcommands: [
                Command("list", abstract: "List them.", groups: [JournalOptions.output]),
                Command("pause", abstract: "Pause one; who asked is recorded.", positionals: [schedule]),
                Command("resume", abstract: "Let a paused one go on.", positionals: [schedule]),
                Command("run", abstract: "Run one now, besides its own runs.", positionals: [schedule]),
            ], defaultSubcommand: "list")
    ) { arguments, reducer in
        switch arguments.path.last {
        case "pause":
            try reducer.order(.pauseSchedule(name: arguments[schedule], who: Operator.name))
        case "resume":
            try reducer.order(.resumeSchedule(name: arguments[schedule], who: Operator.name))
        case "run":
            try reducer.order(.runSchedule(name: arguments[schedule], who: Operator.name))
        default:
            let schedules = try reducer.ask(.schedules, \.schedules)
            try StandardOutput.line(
                SchedulesPrinter(isJSON: arguments[JournalOptions.json]).text(for: schedules))
        }
        return 0
    }
}

/// Writes schedules, for people or as a JSON document.
struct SchedulesPrinter {
    let isJSON: Bool

    func text(for schedules: [ListedSchedule]) -> String {
        if isJSON { return "[\(schedules.map(json).joined(separator: ","))]" }
        if schedules.isEmpty { return "the loop has no schedules" }
        let rows = schedules.map { schedule in
            [
                JSONText.onOneLine(schedule.name), JSONText.onOneLine(schedule.schedule, 60),
                schedule.last.map(Self.text) ?? "-",
                schedule.isPaused ? "paused" : schedule.next.prefix(3).map(Self.text).joined(separator: ", "),
            ]
        }
        let table = StatusTable.table(["NAME", "SCHEDULE", "LAST", "NEXT"], rows, left: [0, 1, 2, 3])
        guard let until = schedules.lazy.compactMap(\.standsStillUntil).first else { return table }
        return
            "no schedule runs before \(Self.text(until)): the reducer's clock is behind the times in the journal\n\(table)"
    }

    private static func text(_ milliseconds: Int64) -> String { WallTime(milliseconds: milliseconds).civilText }

    private func json(_ schedule: ListedSchedule) -> String {
        JSONText.object([
            ("name", JSONText.quoted(schedule.name)), ("schedule", JSONText.quoted(schedule.schedule)),
            ("paused", "\(schedule.isPaused)"), ("last", schedule.last.map { "\($0)" }),
            ("next", "[\(schedule.next.map { "\($0)" }.joined(separator: ","))]"),
            ("standsStillUntil", schedule.standsStillUntil.map { "\($0)" }),
        ])
    }
}
