import CBOR
import Linux
import LoopCluster
import LoopCore
import LoopWire

/// The subcommands of a reducer's program that work on a journal: `loop-reducer LOOP verify JOURNAL`.
struct JournalCommands {
    /// The engines that the program has besides files.
    let engines: [JournalEngine]

    static let journal = Option(
        positional: "JOURNAL", ValueType<String>.string,
        help: "the file or database in which the reducer keeps or kept it")
    static let json = Option(flag: "json", help: "print JSON", environment: .none)
    static let from = Option(
        "from", .int(in: 0...Int.max), default: 0, help: "the first seq that is shown", environment: .none)
    static let through = Option(
        optional: "to", .int(in: 0...Int.max), help: "the last seq that is shown", environment: .none)
    static let at = Option(
        optional: "at", .int(in: 0...Int.max), help: "the seq of the state; else the newest", environment: .none)
    static let before = Option(
        optional: "before", .int(in: 1...Int.max),
        help: "forget what is below this seq, up to an intact snapshot that is not the newest", environment: .none)
    static let after = Option(
        optional: "after", .int(in: 0...Int.max),
        help: "keep events up to this seq and nothing later: the remedy for a corrupt journal; begins a new history",
        environment: .none)
    static let force = Option(
        flag: "force", help: "with --after: cut off also what a start would recover from an intact snapshot",
        environment: .none)

    var all: [NodeSubcommand] {
        [
            NodeSubcommand(
                command: Command(
                    "verify", abstract: "Replay a journal, and compare it with its snapshots and state hashes.",
                    discussion:
                        "Exit codes: 0 no difference, 1 a difference or a damaged snapshot is named, 2 it cannot be replayed.",
                    groups: [OptionGroup("Output", [Self.json])], positionals: [Self.journal]),
                run: { try await judged(Self.verify, $0, $1) }),
            NodeSubcommand(
                command: Command(
                    "history", abstract: "Show what is in a journal.", discussion: Self.verdict,
                    groups: [OptionGroup("Range", [Self.from, Self.through]), OptionGroup("Output", [Self.json])],
                    positionals: [Self.journal]),
                run: { try await judged(Self.history, $0, $1) }),
            NodeSubcommand(
                command: Command(
                    "state", abstract: "Show the state after any transition of a journal, as JSON.",
                    discussion: Self.verdict,
                    groups: [OptionGroup("Range", [Self.at]), OptionGroup("Output", [Self.json])],
                    positionals: [Self.journal]),
                run: { try await judged(Self.state, $0, $1) }),
            NodeSubcommand(
                command: Command(
                    "rehearse", abstract: "Replay a journal through this program: what would change if it took over?",
                    discussion: "Exit codes: 0 nothing differs, 1 something does, 2 it cannot be read.",
                    groups: [OptionGroup("Output", [Self.json])], positionals: [Self.journal]),
                run: { try await judged(Self.rehearse, $0, $1) }),
            NodeSubcommand(
                command: Command(
                    "trim", abstract: "Forget the beginning or the end of a journal that no reducer has open.",
                    groups: [OptionGroup("Range", [Self.before, Self.after, Self.force])], positionals: [Self.journal]),
                run: { try Self.trim($0, $1, place($1)) }),
            WhatIf.subcommand(engines),
            NodeSubcommand(
                command: Command(
                    "schema", abstract: "Show what the loop's events, requests and state look like, with examples.",
                    groups: [LoopSchema.output]),
                run: { try await $0.tools.schema().print($1) }),
        ]
    }

    private static let verdict = "Exit codes: 0 a reducer would start on it, 2 it would not, or it cannot be shown."

    /// Runs a command, and then checks that a reducer would start on the journal. If not, the command fails too.
    private func judged(
        _ command: (RunnableLoop, ParsedArguments, JournalPlace) async throws -> Int32, _ loop: RunnableLoop,
        _ arguments: ParsedArguments
    ) async throws -> Int32 {
        let place = try place(arguments)
        let code = try await command(loop, arguments, place)
        if code == 0 { try await loop.tools.judge(place) }
        return code
    }

    private func place(_ arguments: ParsedArguments) throws(UsageError) -> JournalPlace {
        try JournalPlace(usage: arguments[Self.journal], engines: engines, of: "the journal")
    }

    private static func verify(
        _ loop: RunnableLoop, _ arguments: ParsedArguments, _ place: JournalPlace
    ) async throws -> Int32 {
        let report = try await loop.tools.verify(place)
        try StandardOutput.line(report.text(isJSON: arguments[json]))
        return report.difference == nil ? 0 : 1
    }

    private static func history(
        _ loop: RunnableLoop, _ arguments: ParsedArguments, _ place: JournalPlace
    ) throws -> Int32 {
        var seq = Seq(UInt64(arguments[from]))
        var after: UInt64?
        repeat {
            let page = try loop.tools.history(
                place, seq, arguments[through].map { Seq(UInt64($0)) }, after)
            for record in page.records { try StandardOutput.line(record.line(isJSON: arguments[json])) }
            after = page.next
            if let last = page.records.last { seq = Seq(last.seq) }
        } while after != nil
        return 0
    }

    private static func state(
        _ loop: RunnableLoop, _ arguments: ParsedArguments, _ place: JournalPlace
    ) async throws -> Int32 {
        let (_, bytes) = try await loop.tools.state(place, arguments[at].map { Seq(UInt64($0)) })
        try StandardOutput.line(try CBOR.json(bytes))
        return 0
    }

    private static func rehearse(
        _ loop: RunnableLoop, _ arguments: ParsedArguments, _ place: JournalPlace
    ) async throws -> Int32 {
        let report = try await loop.tools.rehearse(place)
        try StandardOutput.line(arguments[json] ? try CBOR.json(CBOR.encode(report)) : report.text)
        return report.isHarmless ? 0 : 1
    }

    private static func trim(
        _ loop: RunnableLoop, _ arguments: ParsedArguments, _ place: JournalPlace
    ) throws -> Int32 {
        switch (arguments[before], arguments[after]) {
        case (let seq?, nil) where !arguments[force]:
            try StandardOutput.line(try loop.tools.trim(place, Seq(UInt64(seq))))
        case (nil, let seq?):
            try loop.tools.cut(place, Seq(UInt64(seq)), arguments[force])
            try StandardOutput.line(
                "\(place.name(loop.name)) ends at seq \(seq) now, in a new history: workers and senders are told so")
        default:
            throw UsageError(
                message: "trim takes one of --before and --after, and --force only with --after",
                hint: "see trim --help")
        }
        return 0
    }
}

extension RehearsalReport {
    /// Whether this program could take over without any difference.
    var isHarmless: Bool { refusal == nil && difference == nil && undecodable == 0 && unwanted == 0 }

    var text: String {
        var lines = ["replayed seq \(from) to \(through)"]
        lines.append(difference.map { "the first difference is \($0)" } ?? "no difference")
        if undecodable > 0 { lines.append("\(undecodable) records cannot be applied") }
        if unwanted > 0 { lines.append("\(unwanted) events are of effects that would not have run") }
        if let refusal {
            lines.append("this program would not start on it: \(refusal)")
        } else {
            lines.append("taking over would cancel \(cancelled) effects, start \(started) and update \(updated)")
        }
        return lines.joined(separator: "\n")
    }
}
