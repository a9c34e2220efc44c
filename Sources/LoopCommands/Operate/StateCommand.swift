import LoopCore
import LoopNode
import LoopOptions
import LoopWire

/// `loopctl state`: the state now, or as it was.
enum StateCommand {
    static let at = Option(
        optional: "at", JournalOptions.seq, help: "after which transition; without it the newest", environment: .none)
    static let atLeast = Option(
        optional: "at-least", JournalOptions.seq,
        help: "wait until the newest state is at this seq or a later one, as long as --timeout", environment: .none)
    static let json = Option(
        flag: "json", help: "print the seq and the state as one JSON document on a line", environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "state", abstract: "Print the state, also as it was after an earlier transition.",
            discussion: """
                The newest state is the reducer's own: it has every event whose outcome anyone was told before. An earlier \
                state is made again from the journal: the reducer replays it up to that seq.

                Exit codes: 0 printed, 1 refused, 2 no answer or no such seq in time, 64 wrong usage.
                """,
            groups: [JournalOptions.group, OptionGroup("Output", [at, atLeast, json])]),
        run: { arguments, _ in
            if let seq = arguments[atLeast] { try await wait(for: UInt64(seq), arguments) }
            return try Operator.run {
                var reducer = try arguments.askJournal()
                let (seq, bytes) = try reducer.ask(.state(at: arguments[at].map { UInt64($0) }))
                if let least = arguments[atLeast], seq < UInt64(least) {
                    throw CommandError(
                        "the reducer had come to seq \(least), and is at \(seq): its journal is another; ask again")
                }
                StandardOutput.line(StatePrinter(isJSON: arguments[json]).text(seq: seq, state: bytes))
                return 0
            }
        })

    /// Waits until the reducer has come to a seq.
    private static func wait(for seq: UInt64, _ arguments: ParsedArguments) async throws {
        if arguments[at] != nil {
            throw UsageError(message: "--at and --at-least are not used together", hint: "leave one of them out")
        }
        let limit = arguments[JournalOptions.timeout]
        let end = SystemClock.monotonic + limit
        while true {
            let status = try arguments.askStatus(within: min(limit, arguments[JournalOptions.connectTimeout]))
            if status.seq >= seq { return }
            guard status.exitCode == nil, SystemClock.monotonic < end else {
                throw CommandError(
                    "the state has not come to seq \(seq) within \(limit): it is at \(status.seq)"
                        + (status.exitCode == nil ? "" : ", and the loop has ended"))
            }
            // A report is of one moment: there is no request that waits for a seq.
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
