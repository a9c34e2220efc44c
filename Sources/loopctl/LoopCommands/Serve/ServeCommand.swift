import Linux
import LoopApp
import LoopNode

/// `loopctl serve` serves a folder as a web site, until it is stopped.
enum ServeCommand {
    static let folder = Option(
        positional: "FOLDER", .string, help: "what the site's root stands for", environment: .variable("LOOP_FOLDER"))
    static let bind = Option(
        "bind", .hostAndPort, default: HostAndPort(host: "127.0.0.1", port: 8080),
        help: "where to listen; port 0 for any free one", environment: .variable("LOOP_SERVE_BIND"))
    static let latency = Option(
        "latency", .duration(in: .zero ... .seconds(60)), default: .zero,
        help: "how long every request waits, as if the server were far away",
        environment: .variable("LOOP_SERVE_LATENCY"))

    static let subcommand = Subcommand(
        command: Command(
            "serve", abstract: "Serve a folder as a web site.",
            discussion: """
                Answers GET and HEAD with the files below the folder, with index.html or a page of links for a folder. \
                Nothing outside of the folder can be reached through it. Runs until SIGTERM or Ctrl-C.

                Exit codes: 0 stopped, 2 could not run, 64 wrong usage.
                """,
            groups: [OptionGroup("Server", [bind, latency])], positionals: [folder]),
        run: run)

    @Sendable private static func run(_ arguments: ParsedArguments, environment: [String: String]) async throws -> Int32
    {
        let signals = try SignalPipe.ofProcess()
        let address = arguments[bind]
        let server = try SiteServer(
            folder: arguments[folder], host: address.host, port: address.port, latency: arguments[latency])
        let bound = HostAndPort(host: address.host, port: server.port)
        StandardError.line("loopctl: serving \(arguments[folder]) at http://\(bound)/")
        if !bound.isLoopback {
            StandardError.line("loopctl: all who can reach \(bound) can read that folder")
        }
        let (stopped, post) = AsyncStream.makeStream(of: Void.self)
        let relay = try SignalThread(signals) { _ in post.yield() }
        for await _ in stopped { break }
        relay.end()
        server.stop()
        return 0
    }
}
