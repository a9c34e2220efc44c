/// The program `loop-effect`, or a user's own of the same kind.
public enum EffectProgram {
    static let capacity = Option(
        "capacity", .int(in: 1...100_000), default: 16, help: "how many effects this worker holds at once")
    static let groups = Option(
        repeated: "group", .string.named("GROUP"),
        help: "a group of effects to serve; again for more; none for all of the loop's")
    static let nodeName = Option(
        optional: "name", .string.named("NAME"), help: "a name for people, shown by status")
    static let stopLimit = Option(
        "stop-limit", .duration(in: .zero ... .seconds(3600)), default: .seconds(5),
        help: "how long a stop waits until everything handed back is known")

    static let connectTimeout = Option(
        "connect-timeout", .duration(in: .zero ... .seconds(86_400)), default: .zero,
        help: "how long the first contact with the reducer may take, or 0s to wait without a limit")

    /// Makes the program for these loops.
    /// - Parameters:
    ///   - loops: the loops that the program can run.
    ///   - name: the program's name in its help.
    ///   - leavesNameOut: whether the program runs its first loop alone, which the command line then need not name.
    public static func program(_ loops: [RunnableLoop], name: String = "loop-effect", leavesNameOut: Bool = false)
        -> NodeProgram
    {
        let node = OptionGroup(
            "Worker",
            AddressOptions.all + [capacity, groups, nodeName, stopLimit, connectTimeout] + HealthOptions.all
                + TraceOptions.all)
        return NodeProgram(
            name, abstract: "Run effects of a loop for its reducer, which may start later.",
            discussion: """
                Exit codes: 0 the loop has ended, or SIGTERM or SIGINT has stopped the worker; 2 could not run; 64 wrong \
                usage; 130 ended at once by a second signal.
                """,
            groups: [node, OptionGroup("Log", LogOptions.all)], loops: loops,
            takesArguments: false, leavesNameOut: leavesNameOut
        ) { loop, arguments, signals in
            var configuration = EffectNodeConfiguration(reducer: try arguments.reducer)
            configuration.capacity = arguments[capacity]
            configuration.groups = arguments[groups].isEmpty ? nil : arguments[groups]
            configuration.name = arguments[nodeName] ?? ""
            configuration.stopLimit = arguments[stopLimit]
            configuration.connectTimeout = arguments[connectTimeout] > .zero ? arguments[connectTimeout] : nil
            configuration.health = try arguments.health
            configuration.traces = try arguments.traces
            configuration.serviceManager = ServiceManager(environment: ProcessEnvironment.current)
            configuration.log = arguments.log
            _ = try await loop.runWorker(configuration, signals)
            return 0
        }
    }
}

extension EffectNode {
    /// The whole of a user's own worker executable.
    ///
    ///     @main struct Main { static func main() async { await EffectNode.main(Traffic()) } }
    public static func main(_ definition: Definition) async -> Never {
        await main { definition }
    }

    /// Runs a worker whose definition is made with `await` before the node starts. An error is printed, and the program
    /// exits with 2.
    ///
    ///     await EffectNode.main { Shop(database: try await Database.connect(url)) }
    public static func main(_ make: @escaping @Sendable () async throws -> Definition) async -> Never {
        let loop = RunnableLoop(Definition.self, make)
        await EffectProgram.program([loop], name: ProgramName.current, leavesNameOut: true).main()
    }
}
