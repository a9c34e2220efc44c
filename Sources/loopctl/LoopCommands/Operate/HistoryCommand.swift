import Linux
import LoopNode
import LoopWire

/// `loopctl history` shows the journal's records, from the reducer that writes them.
enum HistoryCommand {
    static let from = Option(
        "from", JournalOptions.seq, default: 0, help: "the first seq", environment: .none)
    static let to = Option(
        optional: "to", JournalOptions.seq, help: "the last seq; without it up to the newest", environment: .none)
    static let json = Option(
        flag: "json", help: "print each record as a JSON document on a line", environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "history", abstract: "Print the records of the journal.",
            discussion: """
                Events with their seqs, what was refused and why, how attempts of effects ended, sessions, epochs and \
                definitions. Records that belong to no event stand at the seq of the event before them.

                Exit codes: 0 printed, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [
                JournalOptions.group, OptionGroup("Range", [from, to]), OptionGroup("Output", [json]),
            ]),
        run: { arguments, _ in
            try Operator.run {
                let (from, to) = (arguments[from], arguments[to])
                if let to, to < from {
                    throw UsageError(
                        message: "--to \(to) is before --from \(from)", hint: "give the smaller one as --from")
                }
                var reducer = try arguments.askJournal()
                try pages(from: UInt64(from), through: to.map { UInt64($0) }) { question in
                    try reducer.ask(question)
                } print: { record in
                    try StandardOutput.line(record.line(isJSON: arguments[json]))
                }
                return 0
            }
        })

    /// Asks for page after page until the last.
    static func pages(
        from: UInt64, through: UInt64?, ask: (AdministrationQuestion<HistoryPage>) throws -> HistoryPage,
        print: (HistoryRecord) throws -> Void
    ) throws {
        var after: UInt64?
        while true {
            let page = try ask(.history(from: from, through: through, after: after))
            for record in page.records { try print(record) }
            guard let next = page.next else { return }
            // Otherwise one page could be repeated for ever.
            guard after.map({ next > $0 }) ?? true else { throw AdministrationError.unexpected }
            after = next
        }
    }
}
