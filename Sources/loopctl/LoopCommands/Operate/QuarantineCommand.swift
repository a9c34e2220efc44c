import Linux
import LoopNode
import LoopWire

/// `loopctl quarantine` lists the quarantined events, and decides about one.
enum QuarantineCommand {
    static let event = Option(
        positional: "ID", .int(in: 1 ... .max), help: "the number of the event, as the list shows it")

    static let subcommand = Subcommand(
        asking: Command(
            "quarantine", abstract: "List events that were set aside; look into one, apply it after all, or drop it.",
            discussion: """
                An event that brought the reducer down twice is set aside with its bytes, and the loop goes on without \
                it. Once the definition is fixed, it can be applied after all. The journal records the operator.

                Exit codes: 0 done, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group],
            subcommands: [
                Command(
                    "list", abstract: "List them.",
                    groups: [JournalOptions.output]),
                Command(
                    "show", abstract: "Show one with its event.", groups: [JournalOptions.output], positionals: [event]),
                Command("retry", abstract: "Apply one after all.", positionals: [event]),
                Command("drop", abstract: "Drop one for good.", positionals: [event]),
            ], defaultSubcommand: "list")
    ) { arguments, reducer in
        switch arguments.path.last {
        case "retry":
            try reducer.order(.retryQuarantined(id: UInt64(arguments[event]), who: Operator.name))
        case "drop":
            try reducer.order(.dropQuarantined(id: UInt64(arguments[event]), who: Operator.name))
        case "show":
            guard let event = try reducer.ask(.quarantined(id: UInt64(arguments[event])), \.quarantine).first else {
                throw AdministrationError.unexpected
            }
            try StandardOutput.line(QuarantinePrinter(isJSON: arguments[JournalOptions.json]).whole(event))
        default:
            let events = try reducer.ask(.quarantine, \.quarantine)
            try StandardOutput.line(QuarantinePrinter(isJSON: arguments[JournalOptions.json]).list(events))
        }
        return 0
    }
}
