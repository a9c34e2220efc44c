import Linux
import LoopApp
import LoopCore
import LoopNode
import LoopView
import ZMQ

/// `loopctl console` serves a page that shows a running loop.
enum ConsoleCommand {
    static let http = Option(
        "http", .hostAndPort, default: HostAndPort(host: "127.0.0.1", port: 9720),
        help: "where the page is served; port 0 for any free one", environment: .variable("LOOP_CONSOLE_HTTP"))
    static let allowed = Option(
        optional: "allowed-hosts", .string.named("NAMES"),
        help: "the names under which browsers may load the page, with commas in between, such as that of a proxy",
        environment: .none)

    static let program = Option(
        optional: "program", .path(),
        help: "the loop's own reducer program, to try events in a process of its own; wants --journal",
        environment: .none)
    static let journal = Option(
        optional: "journal", .string.named("FILE"), help: "the reducer's journal, for --program", environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "console", abstract: "Serve a page that shows a running loop.",
            discussion: """
                The page shows health, members and what waits; every transition with its sender, its effects and what it \
                changed; the state now or earlier, by key path; and why a part of it is as it is. It can retry and drop what \
                is set aside. With --program it tries events that have not happened.

                All who can open the page can do what the console's key allows. The page has no password and no encryption: \
                leave it on this machine, or put a proxy with both in front of it. Runs until SIGTERM or Ctrl-C.

                Exit codes: 0 stopped, 2 could not run, 64 wrong usage.
                """,
            groups: [OptionGroup("Page", [http, allowed, program, journal]), ConnectionOptions.group]),
        run: run)

    @Sendable private static func run(_ arguments: ParsedArguments, environment: [String: String]) async throws -> Int32
    {
        let signals = try SignalPipe.ofProcess()
        var asker = ConsoleAsker(
            reducer: try arguments.reducer, limit: arguments[ConnectionOptions.timeout], replayLimit: .seconds(60),
            context: try ZMQContext())
        switch (arguments[program], arguments[journal]) {
        case (let path?, let journal?): asker.program = LoopProgram(path: path, journal: journal)
        case (nil, nil): break
        default: throw UsageError(message: "--program and --journal are used together", hint: "give both, or none")
        }
        let address = arguments[http]
        let server = try serve(
            asker, at: address, allowedHosts: arguments[allowed]?.split(separator: ",").map(String.init) ?? [])
        StandardError.line("loopctl: the console is at \(server.address)")
        if let warning = server.warning { StandardError.line("loopctl: \(warning)") }
        let (stopped, post) = AsyncStream.makeStream(of: Void.self)
        let relay = try SignalThread(signals) { _ in post.yield() }
        for await _ in stopped { break }
        relay.end()
        server.stop()
        return 0
    }

    /// Serves the page. Each browser has a console of its own.
    static func serve(
        _ asker: ConsoleAsker, at address: HostAndPort, allowedHosts: [String] = [], every pause: Duration = .seconds(1)
    ) throws -> ViewServer {
        var options = ViewServer.Options()
        (options.title, options.isWide) = ("Loop console", true)
        (options.host, options.port, options.allowedHosts) = (address.host, address.port, allowedHosts)
        (options.sessionsMax, options.sessionIdleLimit) = (100, .seconds(60))
        options.framesPerSecond = 60
        return try ViewServer(options: options) {
            ConsolePage(
                store: Store(
                    initial: ConsoleState(), reducer: { $0.apply($1) },
                    feedbacks: ConsoleState.feedbacks(asker, every: pause)))
        }
    }
}
