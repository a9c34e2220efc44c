import Linux
import LoopCluster
import LoopNode

/// `loopctl tail` shows transitions as they happen.
enum TailCommand {
    static let json = Option(
        flag: "json", help: "print each as a JSON document on a line", environment: .variable("LOOP_TAIL_JSON"))
    static let count = Option(
        optional: "count", .int(in: 1 ... .max), help: "end after this number of transitions",
        environment: .variable("LOOP_TAIL_COUNT"))

    static let connectTimeout = Option(
        "connect-timeout", .duration(in: .zero ... .seconds(86_400)), default: .zero,
        help: "how long the first contact may take, or 0s to wait without a limit")

    static let subcommand = Subcommand(
        command: Command(
            "tail", abstract: "Print transitions as they happen.",
            discussion: """
                Begins with the next transition, waits for a reducer that does not run yet, and says how many transitions \
                were missed where the connection or this program was too slow. Ends when the loop ends.

                Exit codes: 0 the loop has ended, or the number was reached; 2 could not run; 64 wrong usage; 130 stopped.
                """,
            groups: [
                OptionGroup("Connection", AddressOptions.all + [connectTimeout]),
                OptionGroup("Output", [json, count]),
            ]),
        run: run)

    private enum Mail: Sendable {
        case action(ObserverAction)
        case signal
    }

    @Sendable private static func run(_ arguments: ParsedArguments, environment: [String: String]) async throws -> Int32
    {
        let signals = try SignalPipe.ofProcess()
        let (mail, post) = AsyncStream.makeStream(of: Mail.self)
        let relay = try SignalThread(signals) { _ in post.yield(.signal) }
        defer { relay.end() }
        let limit = arguments[connectTimeout]
        let connection = try RemoteConnection(
            loop: "", reducer: try arguments.reducer, name: "loopctl tail", observing: .transitions,
            stopLimit: .zero, connectTimeout: limit > .zero ? limit : nil)
        connection.observe { post.yield(.action($0)) }
        let printer = TailPrinter(isJSON: arguments[json], countMax: arguments[count])
        let code: Result<Int32, any Error>
        do {
            code = .success(try await print(mail, printer, of: connection))
        } catch {
            code = .failure(error)
        }
        await connection.close()
        return try code.get()
    }

    /// Prints until the loop ends or a signal arrives.
    /// - Returns: the code to exit with.
    private static func print(
        _ mail: AsyncStream<Mail>, _ printer: TailPrinter, of connection: RemoteConnection
    ) async throws -> Int32 {
        var printer = printer
        for await next in mail {
            guard case .action(let action) = next else { break }
            // If the connection has failed, the end says nothing about the loop.
            if case .ended = action, let failure = connection.failure { throw failure }
            for line in printer.lines(for: action) { try StandardOutput.line(line) }
            if case .ended = action { return 0 }
            if printer.isDone { return 0 }
        }
        return 130
    }
}
