import Linux
import LoopNode
import LoopWire

/// `loopctl verify` checks that a replay of the journal gives the recorded states.
enum VerifyCommand {
    static let subcommand = Subcommand(
        asking: Command(
            "verify", abstract: "Replay the journal, and compare with its snapshots and state hashes.",
            discussion: """
                Names the first difference, and each snapshot that cannot be read. The reducer does it while it goes on with its \
                loop; a journal at rest is verified by: loop-reducer LOOP verify FILE.

                Exit codes: 0 no difference, 1 a difference or a damaged snapshot, or refused, 2 no answer, 64 wrong usage.
                """,
            groups: [JournalOptions.group, JournalOptions.output]), isLong: true
    ) { arguments, reducer in
        let report = try reducer.ask(.verify, \.verified)
        try StandardOutput.line(report.text(isJSON: arguments[JournalOptions.json]))
        return report.difference == nil ? 0 : 1
    }
}

/// `loopctl trim` removes old records.
enum TrimCommand {
    static let before = Option(
        required: "before", JournalOptions.seq, help: "records of earlier seqs may go", environment: .none)

    static let subcommand = Subcommand(
        asking: Command(
            "trim", abstract: "Forget the journal's records before a seq.",
            discussion: """
                Only up to an intact snapshot that is not the newest; the answer says how far that was. States and \
                history from before are gone then.

                Exit codes: 0 done, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [JournalOptions.group, OptionGroup("Range", [before])]), isLong: true
    ) { arguments, reducer in
        try reducer.order(.trim(before: UInt64(arguments[before])))
        return 0
    }
}
