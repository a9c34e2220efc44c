import LoopNode
import LoopOptions
import LoopWire

/// `loopctl state`: the state now, or as it was.
enum StateCommand {
    static let at = Option(
        optional: "at", JournalOptions.seq, help: "after which transition; without it the newest", environment: .none)
    static let json = Option(
        flag: "json", help: "print the seq and the state as one JSON document on a line", environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "state", abstract: "Print the state, also as it was after an earlier transition.",
            discussion: """
                An earlier state is made again from the journal: the reducer replays it up to that seq.

                Exit codes: 0 printed, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [JournalOptions.group, OptionGroup("Output", [at, json])]),
        run: { arguments, _ in
            try Operator.run {
                var reducer = try arguments.askJournal()
                let (seq, bytes) = try reducer.ask(.state(at: arguments[at].map { UInt64($0) }))
                StandardOutput.line(StatePrinter(isJSON: arguments[json]).text(seq: seq, state: bytes))
                return 0
            }
        })
}
