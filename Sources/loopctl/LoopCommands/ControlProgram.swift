import Linux
package import LoopNode

/// The program `loopctl`, which starts loops on this machine, and watches and steers loops anywhere.
///
/// Exit codes: 0 and 1 are a verdict (of the job, `ready`, `send` or `verify`; a refusal of the reducer is 1). 2 means that a
/// command could not run, and 64 wrong usage.
package enum ControlProgram {
    private static let subcommands: [Subcommand] = [
        UpCommand.subcommand, StatusCommand.subcommand, TopCommand.subcommand, ReadyCommand.subcommand,
        TailCommand.subcommand, SendCommand.subcommand, EffectsCommand.subcommand, WhyCommand.subcommand,
        WhoCommand.subcommand, QuarantineCommand.subcommand, SchedulesCommand.subcommand, HistoryCommand.subcommand,
        StateCommand.subcommand, DiffCommand.subcommand, SchemaCommand.subcommand, VerifyCommand.subcommand,
        TrimCommand.subcommand, StepDownCommand.subcommand, ServeCommand.subcommand, ConsoleCommand.subcommand,
        JournalCommand.subcommand, DoctorCommand.subcommand, KeygenCommand.subcommand, NewCommand.subcommand,
    ]

    /// The command line, for its help and for tests.
    package static let command = Command(
        "loopctl", abstract: "Start, watch and steer loops.",
        discussion: "Every option can come from the environment too: the variable is shown with it.",
        subcommands: subcommands.map(\.command), version: LoopVersion.current)

    /// Runs a command line, and returns the code to exit with.
    ///
    /// - Parameters:
    ///   - arguments: the words after the program's name.
    ///   - environment: all variables.
    package static func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        do {
            try DescriptorLimit.ensure()
            switch try command.parse(arguments, environment: environment, width: Terminal.helpWidth) {
            case .text(let text):
                try StandardOutput.line(text)
                return 0
            case .arguments(let parsed):
                guard let subcommand = subcommands.first(where: { $0.command.name == parsed.path.first }) else {
                    throw UsageError(message: "no command is named", hint: "see loopctl --help")
                }
                return try await subcommand.run(parsed, environment)
            }
        } catch {
            return ProgramFailure.code(of: error, in: "loopctl")
        }
    }

    /// Runs this process's own command line, and exits.
    package static func main() async -> Never {
        let code = await ProgramArguments.run("loopctl") { await run($0, environment: $1) }
        StandardOutput.exit(code, "loopctl")
    }
}

/// One of the program's commands: its declaration and its code.
struct Subcommand: Sendable {
    let command: Command
    /// Runs the command with the environment, and returns the code to exit with.
    let run: @Sendable (ParsedArguments, [String: String]) async throws -> Int32
}

extension Subcommand {
    /// Makes a command that asks a reducer. A refusal becomes exit code 1.
    /// - Parameters:
    ///   - isLong: whether the answer may take long, because it needs a walk through the journal.
    ///   - ask: asks, prints the answers, and returns the code to exit with.
    init(
        asking command: Command, isLong: Bool = false,
        _ ask: @escaping @Sendable (ParsedArguments, inout Operator) throws -> Int32
    ) {
        self.init(command: command) { arguments, _ in
            try Operator.run {
                var reducer = isLong ? try arguments.askJournal() : try arguments.ask()
                return try ask(arguments, &reducer)
            }
        }
    }
}

/// The reason why a command could not run. The exit code is 2.
struct CommandError: Error, Equatable, CustomStringConvertible {
    /// What went wrong, with which value, and what to do, in one line.
    let description: String

    init(_ description: String) { self.description = description }
}
