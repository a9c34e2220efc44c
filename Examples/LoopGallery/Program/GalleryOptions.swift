internal import LoopNode

/// The command line of `loop-example`.
enum GalleryOptions {
    /// How an example is shown, and where its loop runs.
    enum Mode: String, CaseIterable {
        case terminal
        case text
        case web
        case cluster
    }

    static let name = Option(
        optionalPositional: "NAME", .choice(Gallery.all.map(\.name)).named("NAME"),
        help: "which example; without it they are listed")
    static let mode = Option(
        "mode", .choice(Mode.allCases.map(\.rawValue)), default: Mode.terminal.rawValue,
        help: "on the terminal; as a log of plain text; in browsers; or on the terminal, with a reducer and workers as "
            + "processes. Without a terminal it is text", environment: .variable("LOOP_EXAMPLE_MODE"))

    static let until = Option(
        optional: "until", .string, help: "as text: end as soon as all lines are done and this is shown",
        environment: .none)
    static let limit = Option(
        "for", .duration(in: .zero ... .seconds(86_400)), default: .seconds(5),
        help: "as text: how long it goes on after its last line", environment: .none)
    static let port = Option(
        "port", .int(in: 0...65_535), default: 0, help: "in browsers: where to listen; 0 for any free port",
        environment: .none)
    static let workers = Option(
        "workers", .int(in: 1...64), default: 2, help: "in a cluster: how many worker processes", environment: .none)
    static let journal = Option(
        "journal", .string.named("FILE"), default: "memory",
        help:
            "in a cluster: where the reducer keeps the loop; the same file goes on where it was (the examples' server then is at port 7790, unless --server-port says otherwise)",
        environment: .none)

    static let faults = Option(
        repeated: "fault", .choice(FaultPlan.Fault.allCases.map(\.rawValue)),
        help: "what goes wrong with answers of the examples' server; again for more", environment: .none)
    static let share = Option(
        "fault-share", .number(in: 0...1), default: 0.3, help: "the share of answers that go wrong", environment: .none)
    static let count = Option(
        optional: "fault-count", .int(in: 0...1_000_000), help: "how many answers may go wrong", environment: .none)
    static let seed = Option(
        "fault-seed", .int(in: 0 ... .max), default: 0, help: "draws which ones", environment: .none)
    static let serverPort = Option(
        "server-port", .int(in: 0...65_535), default: 0, help: "where that server listens; 0 for any free port",
        environment: .none)
    static let data = Option(
        optional: "data", .string.named("FOLDER"), help: "where that server's data is; else Examples/Data",
        environment: .none)

    static let command = Command(
        "loop-example", abstract: "Run one of the examples.",
        discussion: """
            As text, each line of the input acts on what is shown: a label presses a button, "New = milk" types into \
            a field. A line waits until what it names is there.

            Exit codes: 0 it ended as it should, 1 --until was not shown or a line could not be done, 2 could not run, \
            64 wrong usage.
            """,
        groups: [
            OptionGroup("How", [mode, until, limit, port, workers, journal]),
            OptionGroup("The examples' server", [faults, share, count, seed, serverPort, data]),
        ],
        positionals: [name], version: LoopVersion.current)
}
