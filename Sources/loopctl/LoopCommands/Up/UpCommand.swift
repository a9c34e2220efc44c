import Linux
import LoopCore
import LoopNode

/// `loopctl up` runs a whole loop on this machine, one reducer and its workers, for as long as the loop runs.
enum UpCommand {
    static let workers = Option(
        "workers", .int(in: 0...256), default: 4, help: "how many worker processes are started")
    static let capacity = Option(
        optional: "capacity", .int(in: 1...100_000), help: "how many effects each worker holds at once")
    static let quiet = Option(flag: "quiet", help: "show no progress, and what the processes say only when they fail")
    static let silenceLimit = Option(
        optional: "silence-limit", .duration(in: ReducerProgram.silenceLimits),
        help: "how long a worker may be silent before its effects run elsewhere")
    static let bind = Option(
        optional: "bind", .bindAddress,
        help: "where peers find the reducer; without it tcp://127.0.0.1:7710 where that is free, else any free ports")
    static let keys = Option(
        optional: "keys", .path("DIR"),
        help:
            "admit only owners of the keys in DIR/allowed; the reducer's and the workers' are made where they are missing"
    )
    static let insecure = Option(
        flag: "insecure", help: "allow an address that other machines can reach without --keys: everyone may take part")
    static let journal = Option(
        optional: "journal", .string.named("FILE"),
        help: "where the reducer keeps the loop, so that the same command goes on with it, or memory to keep nothing; "
            + "without it LOOP.journal in the working directory")
    static let durability = Option(
        optional: "durability", .choice(["fsync", "os"]),
        help: "what must have happened to a record before it is acknowledged; without it fsync")
    static let wait = Option(flag: "wait", help: "wait for a journal that another reducer holds")
    static let log = Option(
        optional: "log", .choice(LogOptions.Form.allCases.map(\.rawValue)),
        help: "how the processes write their logs: text for people, or JSON lines")
    static let logLevel = Option(
        optional: "log-level", .choice(LogLevel.allCases.map(\.rawValue)),
        help: "leave out of the logs what matters less than this; without it notice")
    static let json = Option(
        optional: "json", .path(takesStream: true),
        help: "write the loop's outcome as JSON to this file, or - to write it to standard output and the text to "
            + "standard error")
    static let exitZero = Option(
        flag: "exit-zero", help: "end with 0 when the loop's verdict is bad, too: for people, who read the outcome",
        environment: .none)
    static let serve = Option(
        optional: "serve", .string.named("PATH"),
        help:
            "serve a folder, or the folder of a page, on loopback for as long as the loop runs, at the same port each time; "
            + "its URL becomes the loop's first argument")
    static let reducerProgram = Option(
        optional: "reducer-exe", .string.named("PATH"), help: "the reducer's program; else loop-reducer next to loopctl"
    )
    static let workerProgram = Option(
        optional: "worker-exe", .string.named("PATH"), help: "the workers' program; else loop-effect next to loopctl")
    static let loop = Option(positional: "LOOP", .string, help: "the loop's name, such as linkcheck")
    static let rest = Option(
        repeatedPositional: "ARGUMENT", .string,
        help: "the loop's own options and arguments: see loop-reducer LOOP --help")

    static let groups = [
        OptionGroup(
            "Processes", [workers, capacity, serve, quiet, log, logLevel, exitZero, reducerProgram, workerProgram]),
        OptionGroup("Reducer", [bind, keys, insecure, silenceLimit, journal, durability, wait, json]),
    ]

    static let subcommand = Subcommand(
        command: Command(
            "up", abstract: "Run a loop here: a reducer and its workers.",
            discussion: """
                Starts one reducer and its workers as processes of this machine, shows how far they are, starts again \
                what crashes, and prints the loop's outcome. Ctrl-C or SIGTERM stops all of them, a second one kills them; \
                nothing is left running.

                What is interrupted is not lost: the loop is kept in a journal, and the same command in the same folder \
                goes on where it was.

                Exit codes: 0 and 1 are the loop's verdict (linkcheck: 0 nothing broken, 1 broken links), with --exit-zero \
                always 0; 0 also when a signal has stopped it; 2 could not run; 64 wrong usage; 130 ended by a second signal.
                """,
            groups: groups,
            positionals: [loop, rest], passesThrough: true),
        run: run)

    @Sendable private static func run(_ arguments: ParsedArguments, environment: [String: String]) async throws -> Int32
    {
        // This comes first, because threads inherit that signals are read and do not end the process.
        let signals = try SignalPipe.ofProcess()
        Signals.ignoreBrokenPipes()
        var request = try UpRequest(arguments)
        let site = try arguments[serve].map { try ServedSite($0) }
        if let site { request.loopArguments.insert(site.url, at: 0) }
        let claim = arguments[bind] == nil ? try PortClaim() : nil
        let folder = ProcessEnvironment.executable.map { $0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex) }
        let issued = try arguments[keys].map { try UpKeys(keepingIn: $0) }
        let plan = try UpPlan(request, claimed: try claim?.address, keys: issued, folder: String(folder ?? "."))
        for program in [plan.reducerProgram, plan.workerProgram] where ProcessEnvironment.find(program) == nil {
            throw CommandError(
                "there is no program \(program); build it by `swift build`, or name it by --reducer-exe or --worker-exe"
            )
        }
        let code = await UpRun(plan, console: Console(isQuiet: arguments[quiet])).run(signals, saying: site?.line)
        site?.stop()
        claim?.giveUp()
        return code
    }
}

/// The request of a user to `up`.
struct UpRequest {
    let loop: String
    /// The loop's own arguments, in order.
    var loopArguments: [String]
    /// The options of `up`.
    let options: ParsedArguments

    /// - Throws: `UsageError` if no loop is named.
    init(_ arguments: ParsedArguments) throws(UsageError) {
        guard let loop = arguments.rest.first, loop != "--" else {
            throw UsageError(message: "LOOP is missing", hint: "name it, as in: loopctl up linkcheck URL")
        }
        guard !loop.hasPrefix("-") else {
            throw UsageError(
                message: "\(loop) stands before the loop's name",
                hint: "if it is an option of the loop write: loopctl up LOOP \(loop)")
        }
        self.loop = loop
        loopArguments = Array(arguments.rest.dropFirst())
        options = arguments
    }
}
