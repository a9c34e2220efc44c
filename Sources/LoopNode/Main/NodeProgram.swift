internal import Linux
import LoopCluster

/// A program for one kind of node: options → configuration → node → exit code.
///
/// Exit codes: 0 and 1 are the job's verdict, and 0 also means a stop by a signal. A program that could not run ends with 2. 3
/// means that the journal is damaged or lacks acknowledged records, 64 wrong usage, and 130 a second signal.
public struct NodeProgram: Sendable {
    /// The command line, for its help and for tests.
    package let command: Command
    private let loops: [RunnableLoop]
    /// Whether the command line need not name the loop, because there is only one.
    private let leavesNameOut: Bool
    private let run: @Sendable (RunnableLoop, ParsedArguments, SignalPipe) async throws -> Int32
    private let others: [NodeSubcommand]

    init(
        _ name: String, abstract: String, discussion: String, groups: [OptionGroup], loops: [RunnableLoop],
        takesArguments: Bool, leavesNameOut: Bool, others: [NodeSubcommand] = [],
        run: @escaping @Sendable (RunnableLoop, ParsedArguments, SignalPipe) async throws -> Int32
    ) {
        self.loops = loops
        self.run = run
        self.others = others
        self.leavesNameOut = leavesNameOut
        let variables = "Every option can come from the environment too: LOOP_ and its name in capitals."
        let subcommands = { (loop: RunnableLoop) in
            let run = Command(
                "run", abstract: abstract, discussion: discussion,
                groups: (takesArguments ? loop.groups : []) + groups,
                positionals: takesArguments ? loop.positionals : [])
            return [run] + others.map(\.command)
        }
        if leavesNameOut {
            let loop = loops[0]
            let sentence = loop.abstract.isEmpty ? abstract : loop.abstract
            command = Command(
                name, abstract: "\(sentence) The loop is \(loop.name).", discussion: "\(discussion)\n\n\(variables)",
                subcommands: subcommands(loop), defaultSubcommand: "run", version: LoopVersion.current)
        } else {
            command = Command(
                name, abstract: abstract, discussion: variables,
                subcommands: loops.map { loop in
                    Command(
                        loop.name, abstract: loop.abstract, subcommands: subcommands(loop), defaultSubcommand: "run")
                }, subcommandNoun: "loop", version: LoopVersion.current)
        }
    }

    /// Runs the command line, and returns the code to exit with.
    package func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        do {
            try DescriptorLimit.ensure()
            var words = arguments
            // `loopctl up` names the loop anyway.
            if leavesNameOut, words.first == loops[0].name { words.removeFirst() }
            switch try command.parse(words, environment: environment) {
            case .text(let text):
                try StandardOutput.line(text)
                return 0
            case .arguments(let parsed):
                guard let loop = leavesNameOut ? loops[0] : loops.first(where: { $0.name == parsed.path.first }) else {
                    throw UsageError(message: "no loop is named", hint: "see --help")
                }
                if let other = others.first(where: { $0.command.name == parsed.path.last }) {
                    return try await other.run(loop, parsed)
                }
                // A signal or a closed pipe ends a tool, but must not end a node.
                let signals = try SignalPipe.ofProcess()
                Signals.ignoreBrokenPipes()
                do {
                    return try await run(loop, parsed, signals)
                } catch {
                    if error is UsageError || error is OutputError { throw error }
                    // Use the form of the log, so that readers of the log do not miss the last line.
                    NodeLog(name: command.name, parsed.log).note(.failed, "\(error)", [.reason("\(error)")])
                    return Self.code(of: error)
                }
            }
        } catch {
            return ProgramFailure.code(of: error, in: command.name)
        }
    }

    /// The exit code of an error. A supervisor should not restart a program that ends with 3.
    static func code(of error: any Error) -> Int32 {
        switch error {
        case NodeError.damaged, RecoveryError.trimmed(oldest: nil, _): 3
        case let error as JournalError where error.kind == .corrupt: 3
        default: 2
        }
    }

    /// Runs this process's own command line, and exits.
    public func main() async -> Never {
        let code = await ProgramArguments.run(command.name) { await run($0, environment: $1) }
        StandardOutput.exit(code, command.name)
    }
}

/// A command of a node's program that does something else with a loop than run it.
struct NodeSubcommand: Sendable {
    let command: Command
    let run: @Sendable (RunnableLoop, ParsedArguments) async throws -> Int32
}
