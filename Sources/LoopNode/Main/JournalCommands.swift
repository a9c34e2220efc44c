import CBOR
import Glibc
import LoopCluster
import LoopCore
import LoopOptions
import LoopWire

/// The subcommands of a reducer's program that work on a journal: `loop-reducer LOOP verify JOURNAL`.
enum JournalCommands {
    static let journal = Positional(
        "JOURNAL", ValueType<String>.string, help: "the file that the reducer keeps or kept", environment: nil)
    static let json = Option(flag: "json", help: "print JSON", environment: .none)
    static let from = Option(
        "from", .int(in: 1...Int.max), default: 1, help: "the first seq that is shown", environment: .none)
    static let through = Option(
        optional: "to", .int(in: 1...Int.max), help: "the last seq that is shown", environment: .none)
    static let at = Option(
        optional: "at", .int(in: 0...Int.max), help: "the seq of the state; else the newest", environment: .none)
    static let before = Option(
        optional: "before", .int(in: 1...Int.max),
        help: "forget what is below this seq, as far as the two newest snapshots cover it", environment: .none)
    static let after = Option(
        optional: "after", .int(in: 0...Int.max),
        help: "keep events up to this seq and nothing later: the remedy for a corrupt journal; begins a new history",
        environment: .none)

    static let all: [NodeSubcommand] = [
        NodeSubcommand(
            Command(
                "verify", abstract: "Replay a journal, and compare it with its snapshots and state hashes.",
                discussion: "Exit codes: 0 no difference, 1 the first difference is named, 2 it cannot be replayed.",
                groups: [OptionGroup("Output", [json])], positionals: [journal]),
            run: verify),
        NodeSubcommand(
            Command(
                "history", abstract: "Show what is in a journal.",
                groups: [OptionGroup("Range", [from, through]), OptionGroup("Output", [json])],
                positionals: [journal]),
            run: history),
        NodeSubcommand(
            Command(
                "state", abstract: "Show the state after any transition of a journal, as JSON.",
                groups: [OptionGroup("Range", [at]), OptionGroup("Output", [json])], positionals: [journal]),
            run: state),
        NodeSubcommand(
            Command(
                "rehearse", abstract: "Replay a journal through this program: what would change if it took over?",
                discussion: "Exit codes: 0 nothing differs, 1 something does, 2 it cannot be read.",
                groups: [OptionGroup("Output", [json])], positionals: [journal]),
            run: rehearse),
        NodeSubcommand(
            Command(
                "trim", abstract: "Forget the beginning or the end of a journal that no reducer has open.",
                groups: [OptionGroup("Range", [before, after])], positionals: [journal]),
            run: trim),
        NodeSubcommand(
            Command(
                "schema", abstract: "Show what the loop's events, requests and state look like, with examples.",
                groups: [OptionGroup("Output", [json])]),
            run: schema),
    ]

    @Sendable private static func schema(_ loop: RunnableLoop, _ arguments: ParsedArguments) async throws -> Int32 {
        print(SchemaPrinter(isJSON: arguments[json]).text(for: try await loop.tools.schema()))
        return 0
    }

    @Sendable private static func verify(_ loop: RunnableLoop, _ arguments: ParsedArguments) async throws -> Int32 {
        let report = try await loop.tools.verify(arguments[journal])
        print(VerifyPrinter(isJSON: arguments[json]).text(for: report))
        return report.difference == nil ? 0 : 1
    }

    @Sendable private static func history(_ loop: RunnableLoop, _ arguments: ParsedArguments) throws -> Int32 {
        let printer = HistoryPrinter(isJSON: arguments[json])
        var seq = Seq(UInt64(arguments[from]))
        var after: UInt64?
        repeat {
            let page = try loop.tools.history(
                arguments[journal], seq, arguments[through].map { Seq(UInt64($0)) }, after)
            for record in page.records { print(printer.line(for: record)) }
            after = page.next
            if let last = page.records.last { seq = Seq(last.seq) }
        } while after != nil
        return 0
    }

    @Sendable private static func state(_ loop: RunnableLoop, _ arguments: ParsedArguments) async throws -> Int32 {
        let (_, bytes) = try await loop.tools.state(arguments[journal], arguments[at].map { Seq(UInt64($0)) })
        print(try CBOR.json(bytes))
        return 0
    }

    @Sendable private static func rehearse(_ loop: RunnableLoop, _ arguments: ParsedArguments) async throws -> Int32 {
        let report = try await loop.tools.rehearse(arguments[journal])
        print(arguments[json] ? try CBOR.json(CBOR.encode(report)) : report.text)
        return report.isHarmless ? 0 : 1
    }

    @Sendable private static func trim(_ loop: RunnableLoop, _ arguments: ParsedArguments) throws -> Int32 {
        let path = arguments[journal]
        switch (arguments[before], arguments[after]) {
        case (let seq?, nil):
            print("\(path) begins at seq \(try loop.tools.trim(path, Seq(UInt64(seq)))) now")
        case (nil, let seq?):
            try loop.tools.cut(path, Seq(UInt64(seq)))
            print("\(path) ends at seq \(seq) now, in a new history: workers and senders are told so")
        case (nil, nil), (_?, _?):
            throw UsageError(message: "trim takes one of --before and --after", hint: "see trim --help")
        }
        return 0
    }
}

extension RehearsalReport {
    /// Whether this program could take over and nothing would be different.
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
