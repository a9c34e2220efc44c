import Glibc
import Linux
import LoopCluster
import LoopCore

/// The program `loop-reducer`, or a user's own of the same kind.
public enum ReducerProgram {
    static let bind = Option(
        "bind", .bindAddress, default: .standard,
        help: "where peers find this reducer; the two ports after it are used too (0: any free ones)")
    static let keys = Option(
        optional: "keys", .path("DIR"),
        help: "admit only owners of the keys in DIR/allowed, and prove to be the reducer by DIR/server.key_secret")
    static let insecure = Option(
        flag: "insecure", help: "allow an address that other machines can reach without --keys: everyone may take part")
    /// The range of `--silence-limit`.
    package static let silenceLimits: ClosedRange<Duration> = .milliseconds(100) ... .seconds(3600)
    static let silenceLimit = Option(
        "silence-limit", .duration(in: silenceLimits), default: .seconds(3),
        help: "how long a worker may be silent before its effects run elsewhere")
    static let localCapacity = Option(
        "local-capacity", .int(in: 1...100_000), default: 256,
        help: "how many effects run at once in the reducer's own process")
    static let sessionsMax = Option(
        "sessions-max", .int(in: 2...1_000_000), default: 10_000,
        help: "how many peers may have a session; for more, those that are idle for the longest give theirs up")
    static let sessionsPerKey = Option(
        optional: "sessions-per-key", .int(in: 1...1_000_000),
        help: "how many sessions one key may have, or one other machine without keys; by default half of --sessions-max"
    )
    static let connectionsMax = Option(
        "connections-max", .int(in: 8...1_000_000), default: ConnectionLimits().connectionsMax,
        help: "how many connections there may be, three for each peer; the limit of open files lowers it")
    static let connectionsPerSecond = Option(
        "connections-per-second", .int(in: 1...1_000_000), default: ConnectionLimits().connectionsPerSecond,
        help: "how many new connections are taken in a second; the peers of more connect later")
    static let journal = Option(
        optional: "journal", .string.named("FILE"),
        help: "where events are kept: a file, by default LOOP.journal; memory, which lasts as long as the process; or a"
            + " database, such as postgres://user@host/db, where the program has LoopPostgres")
    static let durability = Option(
        "durability", .choice, default: Durability.fsync,
        help: "what an acknowledged event survives: a loss of power, or only the end of the process")
    static let wait = Option(flag: "wait", help: "wait while another reducer has the journal")
    static let standby = Option(
        flag: "standby",
        help: "wait like --wait, but listen meanwhile, and send peers to the reducer that has the journal")
    static let advertise = Option(
        optional: "advertise", .reducerAddress,
        help: "where peers find this reducer, told to standbys and tools; by default the address of --bind")
    static let reducers = Option(
        optional: "reducer", .reducerAddress,
        help:
            "the addresses of all reducers of the loop, with commas in between: this one asks the others now and then whether they"
            + " lead with another journal")
    static let lease = Option(
        "lease", .duration(in: ReducerNodeConfiguration.leases), default: ReducerNodeConfiguration.standardLease,
        help: "how long after the last sign of life of a reducer with a journal in a database no other one takes over")
    static let journalDeadline = Option(
        "journal-deadline", .duration(in: ReducerNodeConfiguration.deadlines),
        default: ReducerNodeConfiguration.standardDeadline,
        help: "how long a database may take for an append; after that the reducer reads the journal again")
    static let reinterpret = Option(
        flag: "reinterpret", help: "replay events that another version of the program wrote, whatever comes of it")
    static let acceptClock = Option(
        flag: "accept-clock",
        help: "if the clock is behind the times in the journal, take it for right; for one start, after it was ahead")
    static let checkPurity = Option(
        flag: "check-purity",
        help: "for development: reduce each event twice and hash what comes of it, to find a reduce that is no function"
    )
    static let snapshotEvery = Option(
        "snapshot-every", .int(in: 100...1_000_000_000), default: 100_000,
        help: "how many records may have to be replayed at a start; more where the state is large")
    static let json = Option(
        optional: "json", .path(takesStream: true),
        help: "write the loop's outcome as JSON to this file, or - to write it to standard output and the text to "
            + "standard error")

    /// Makes the program for these loops.
    /// - Parameters:
    ///   - loops: the loops that the program can run.
    ///   - name: the program's name in its help.
    ///   - leavesNameOut: whether the program runs its first loop alone, which the command line then need not name.
    ///   - engines: the engines for journals that the program has besides files.
    public static func program(
        _ loops: [RunnableLoop], name: String = "loop-reducer", leavesNameOut: Bool = false,
        engines: [JournalEngine] = []
    ) -> NodeProgram {
        let node = OptionGroup(
            "Reducer",
            [
                bind, keys, insecure, silenceLimit, localCapacity, sessionsMax, sessionsPerKey, connectionsMax,
                connectionsPerSecond, advertise, reducers, AddressOptions.key, AddressOptions.reducerKey,
                json,
            ] + HealthOptions.all + TraceOptions.all)
        let keeping = OptionGroup(
            "Journal",
            [
                journal, durability, wait, standby, lease, journalDeadline, reinterpret, acceptClock, checkPurity,
                snapshotEvery,
            ])
        return NodeProgram(
            name, abstract: "Own the state of a loop, order its events, and hand its effects to workers.",
            discussion: """
                Exit codes: 0 and 1 are the loop's verdict; 0 also when SIGTERM, SIGINT or SIGHUP has stopped it; 2 could not run; \
                3 the journal is damaged or lacks acknowledged records; \
                64 wrong usage; 130 ended at once by a second signal.
                """,
            groups: [node, keeping, OptionGroup("Log", LogOptions.all)], loops: loops, takesArguments: true,
            leavesNameOut: leavesNameOut, others: JournalCommands(engines: engines).all
        ) { loop, arguments, signals in
            var configuration = ReducerNodeConfiguration(bind: arguments[bind])
            configuration.keys = arguments[keys].map { KeyFolder($0) }
            configuration.isInsecure = arguments[insecure]
            configuration.machine.silenceLimit = arguments[silenceLimit]
            configuration.localCapacity = arguments[localCapacity]
            configuration.machine.sessionsMax = arguments[sessionsMax]
            configuration.machine.sessionsPerKeyMax = arguments[sessionsPerKey]
            configuration.connectionLimits.connectionsMax = arguments[connectionsMax]
            configuration.connectionLimits.connectionsPerSecond = arguments[connectionsPerSecond]
            let place = try JournalPlace(usage: arguments[journal], engines: engines, of: "--journal")
            configuration.journal = place
            configuration.durability = arguments[durability]
            configuration.succession = arguments[standby] ? .standby : arguments[wait] ? .wait : .refuse
            configuration.journalLease = arguments[lease]
            configuration.journalDeadline = arguments[journalDeadline]
            configuration.advertised = arguments[advertise]
            configuration.reducers = try arguments[reducers]?
                .with(key: arguments[AddressOptions.key], reducerKey: arguments[AddressOptions.reducerKey])
            if arguments[reinterpret] { configuration.reinterprets = .always }
            configuration.machine.acceptsClock = arguments[acceptClock]
            configuration.machine.checksPurity = arguments[checkPurity]
            configuration.snapshotInterval = UInt64(arguments[snapshotEvery])
            configuration.health = try arguments.health
            configuration.traces = try arguments.traces
            configuration.serviceManager = ServiceManager(environment: ProcessEnvironment.current)
            configuration.log = arguments.log
            let file = arguments[json]
            // Check this before the run, which may take hours.
            if let file, file != "-" { try FileSystem.checkWritable(file) }
            let isKept = place.name(loop.name) != "memory"
            configuration.onOutcome = { try report($0, to: file, isKept: isKept) }
            switch try await loop.runReducer(arguments, configuration, signals) {
            case .ended(let outcome): return outcome.exitCode
            // A stop before there is a verdict is a success. In a log, the next start says how far the loop is, so only a
            // terminal gets a line.
            case .stopped:
                if Terminals.settings(of: 2) != nil {
                    StandardError.line(farewell(of: loop.name, journal: place.name(loop.name)))
                }
                return 0
            case .notStarted:
                if Terminals.settings(of: 2) != nil {
                    StandardError.line("reducer \(loop.name): stopped before its start")
                }
                return 0
            }
        }
    }

    /// The line for a user who has stopped a reducer by Ctrl-C.
    static func farewell(of loop: String, journal: String) -> String {
        if journal == "memory" { return "reducer \(loop): stopped; nothing was kept" }
        return "reducer \(loop): stopped; the loop is kept in \(journal), "
            + "and the same command continues it"
    }

    /// - Parameter isKept: whether the journal outlives the process.
    static func report(_ outcome: Outcome, to file: String?, isKept: Bool) throws {
        do throws(OutputError) {
            if file == "-" {
                StandardError.line(outcome.text)
                return try StandardOutput.json(outcome.json ?? "null")
            }
            try StandardOutput.line(outcome.text)
        } catch {
            let remedy =
                isKept
                ? "the next start on this journal tells it again" : "it is lost, because --journal memory keeps nothing"
            throw NodeError.system("the outcome: \(error); \(remedy)")
        }
        if let file {
            do throws(SystemError) {
                try FileSystem.replace(file, with: (outcome.json ?? "null") + "\n")
            } catch {
                throw NodeError.system("could not write \(file): \(error.text)")
            }
        }
    }
}

extension JournalPlace {
    /// Reads a word of the command line.
    init(usage text: String?, engines: [JournalEngine], of word: String) throws(UsageError) {
        do throws(JournalPlaceError) {
            try self.init(text, engines: engines)
        } catch {
            throw UsageError(message: "\(word) cannot be used: \(error)", hint: "see --help")
        }
    }
}

extension ReducerNode {
    /// The whole of a user's own reducer executable.
    ///
    ///     @main struct Main { static func main() async { await ReducerNode.main(Traffic()) } }
    /// - Parameters:
    ///   - definition: the loop.
    ///   - engines: the engines for journals besides files; `[.postgres]` with LoopPostgres.
    public static func main(_ definition: Definition, engines: [JournalEngine] = []) async -> Never {
        await main(engines: engines) { definition }
    }

    /// Runs a reducer whose definition is made with `await` before the node starts. An error is printed, and the program
    /// exits with 2.
    ///
    ///     await ReducerNode.main { Shop(database: try await Database.connect(url)) }
    public static func main(
        engines: [JournalEngine] = [], _ make: @escaping @Sendable () async throws -> Definition
    ) async -> Never {
        let loop = RunnableLoop(Definition.self, make)
        await ReducerProgram.program([loop], name: ProgramName.current, leavesNameOut: true, engines: engines).main()
    }
}

/// The name by which this process was started.
enum ProgramName {
    static var current: String {
        let path = CommandLine.arguments.first ?? "loop"
        return String(path.split(separator: "/").last ?? "loop")
    }
}
