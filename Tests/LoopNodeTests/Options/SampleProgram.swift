import LoopNode

/// A program like the ones of this project: a loop's own options in addition to those of its node.
enum Sample {
    static let bind = Option("bind", .endpoint, default: "tcp://127.0.0.1:7710", help: "where to listen")
    static let silence = Option(
        "silence-limit", .duration(in: .milliseconds(100) ... .seconds(600)), default: .seconds(3),
        help: "how long a worker may be silent before its effects run elsewhere")
    static let maximum = Option(
        "message-max", .size(in: 1024...(1 << 30)), default: 2 << 20, help: "the largest message a peer may send")
    static let insecure = Option(flag: "insecure", help: "bind other addresses than loopback without keys")
    static let keys = Option(optional: "keys", .string.named("FILE"), help: "the file of the allowed keys")
    static let node = OptionGroup("Node", [bind, silence, maximum, insecure, keys])

    static let external = Option(flag: "external", help: "also check links that leave the site")
    static let header = Option(repeated: "header", .string.named("NAME:VALUE"), help: "a header of each request")
    static let perHost = Option(
        "per-host", .int(in: 1...64), default: 8, help: "how many requests one host gets at once")
    static let site = Option(
        positional: "SITE", .string, help: "a URL or a folder", environment: .variable("LOOP_SITE"))
    static let linkcheck = OptionGroup("Link checker", [external, header, perHost])

    static let journal = Option(positional: "JOURNAL", .string, help: "the journal's file")
    static let range = Option(repeatedPositional: "SEQ", .int(in: 1 ... .max), help: "only these transitions")

    static let program = Command(
        "loop-reducer", abstract: "Run the reducer of a loop.",
        subcommands: [
            Command(
                "linkcheck", abstract: "Check the links of a web site or of a folder.",
                discussion:
                    "Pages in scope are read, all others only asked for.\n\nExit codes: 0 nothing broken, 1 broken links.",
                subcommands: [
                    Command(
                        "run", abstract: "Run the loop.", groups: [node, linkcheck], positionals: [site]),
                    Command("verify", abstract: "Replay a journal and compare.", positionals: [journal]),
                    Command("history", abstract: "Print transitions.", positionals: [journal, range]),
                ], defaultSubcommand: "run")
        ], version: "loop-reducer 1.0")

    enum Mode: String, CaseIterable { case full, delta, event }
    static let reducer = Option("reducer", .endpoint, default: "tcp://127.0.0.1:7710", help: "which reducer to ask")
    static let json = Option(flag: "json", help: "print JSON")
    static let mode = Option("mode", .choice, default: Mode.full, help: "what an update holds")
    static let rate = Option("rate", .number(in: 0.1...1000), default: 10, help: "updates a second, at most")
    static let token = Option(
        required: "token", .string, help: "who you are", environment: .variable("LOOP_ADMIN_TOKEN"))
    static let event = Option(positional: "EVENT", .string, help: "the event as JSON")
    static let note = Option(optionalPositional: "NOTE", .string, help: "why")

    static let control = Command(
        "loopctl", abstract: "Watch and steer a loop.", groups: [OptionGroup("Connection", [reducer])],
        subcommands: [
            Command("status", abstract: "Show what the reducer is doing.", groups: [OptionGroup("Output", [json])]),
            Command(
                "tail", abstract: "Print transitions as they happen.", groups: [OptionGroup("Output", [mode, rate])]),
            Command(
                "send", abstract: "Send one event.", groups: [OptionGroup("Who", [token])], positionals: [event, note]),
        ])

    /// The understood arguments, or an error that they were answered by a text.
    static func parse(
        _ words: String..., program: Command = program, environment: [String: String] = [:]
    ) throws -> ParsedArguments {
        switch try program.parse(words, environment: environment) {
        case .arguments(let arguments): return arguments
        case .text(let text): throw Printed(text: text)
        }
    }

    struct Printed: Error { let text: String }
}

extension ValueType where Value == String {
    /// A type of the program's own.
    static var endpoint: ValueType {
        ValueType(
            placeholder: "ENDPOINT", expected: "an endpoint such as tcp://HOST:PORT or ipc://PATH",
            parse: { text throws(Misfit) in
                guard text.contains("://") else { throw Misfit("it has no scheme") }
                return text
            }, write: { $0 })
    }
}
