import Glibc
import Linux
import LoopNode

/// The program `loop-chaos`.
///
/// Exit codes: 0 all promises were kept, 1 one was not, 2 it could not run, 64 wrong usage, 130 interrupted.
package enum ChaosProgram {
    static let seed = Option(
        optional: "seed", .int(in: 0 ... .max), help: "draws the schedule; a random one where none is given",
        environment: .none)
    static let duration = Option(
        "duration", .duration(in: ChaosSchedule.durationMin ... .seconds(86_400)), default: .seconds(30),
        help: "how long things go wrong", environment: .none)
    static let journal = Option(
        "journal", .choice(ChaosPlan.JournalKind.allCases.map(\.rawValue)),
        default: ChaosPlan.JournalKind.file.rawValue,
        help: "where the reducer keeps events; with memory a run has to fail", environment: .none)
    static let servers = Option(
        "servers", .choice(["1", "3"]), default: "3",
        help: "with the journal postgres: how many servers the database has", environment: .none)
    static let sparesReducer = Option(
        flag: "spare-reducer", help: "leave the reducer's process alone", environment: .none)
    static let held = Option(
        "held", .int(in: 0...50_000), default: ChaosPlan.heldByDefault,
        help: "how many effects one more worker holds all the time, or 0 for no such worker", environment: .none)
    static let worker = Option(
        optional: "worker", .string.named("COMMAND"),
        help: "words, without quotes, that run one of the workers; they get the options of loop-effect",
        environment: .none)
    static let mustRunAll = Option(
        flag: "all", help: "fail where a part cannot run here, as it does where CI is set", environment: .none)
    static let keepsFolder = Option(
        flag: "keep", help: "keep the journal, logs and pages, also where all is well", environment: .none)
    static let schedule = Option(
        flag: "schedule", help: "print what would go wrong and when, and do nothing", environment: .none)

    static let command = Command(
        "loop-chaos", abstract: "Break real processes and their network by a schedule, and check every promise.",
        groups: [
            OptionGroup("Run", [seed, duration, journal, servers, held, worker, sparesReducer, mustRunAll]),
            OptionGroup("Output", [keepsFolder, schedule]),
        ])

    /// Runs a command line.
    /// - Returns: the exit code.
    package static func run(_ arguments: [String], environment: [String: String]) async -> Int32 {
        do {
            switch try command.parse(arguments, environment: environment) {
            case .text(let text):
                try StandardOutput.line(text)
                return 0
            case .arguments(let parsed):
                let number = parsed[seed].map(UInt64.init) ?? SystemRandom.uint64() % 1_000_000
                let plan = ChaosPlan(
                    seed: number, duration: parsed[duration],
                    journal: ChaosPlan.JournalKind(rawValue: parsed[journal]) ?? .file,
                    servers: parsed[servers] == "1" ? 1 : 3, sparesReducer: parsed[sparesReducer], held: parsed[held],
                    mustRunAll: parsed[mustRunAll] || !environment["CI", default: ""].isEmpty,
                    keeping: parsed[keepsFolder] ? .always : .onViolation, executables: folderOfThisProgram,
                    worker: (parsed[worker] ?? "").split(separator: " ").map(String.init))
                return try await run(plan, printsOnly: parsed[schedule])
            }
        } catch is CancellationError {
            StandardError.line("loop-chaos: interrupted")
            return 130
        } catch {
            return ProgramFailure.code(of: error, in: "loop-chaos")
        }
    }

    private static func run(_ plan: ChaosPlan, printsOnly: Bool) async throws -> Int32 {
        let run = ChaosRun(plan) { StandardError.line("loop-chaos: \($0)") }
        if printsOnly {
            for fault in run.schedule.faults { try StandardOutput.line("\(fault)") }
            return 0
        }
        try StandardOutput.line("seed \(plan.seed); again: \(plan.command)")
        let report = try await run.run()
        try StandardOutput.line(report.text)
        return report.isClean ? 0 : 1
    }

    /// The folder of this program, where the executables are.
    private static var folderOfThisProgram: String {
        let path = ProcessEnvironment.executable ?? CommandLine.arguments[0]
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }

    /// Runs this process's own command line, and exits. The first SIGINT or SIGTERM cleans up, the second exits at once.
    package static func main() async -> Never {
        StandardOutput.holdClosed()
        DescriptorLimit.raise()
        let environment = ProcessEnvironment.current
        // Outside of any group, because the signal thread cancels it. Its end is awaited below.
        let task = Task { await run(Array(CommandLine.arguments.dropFirst()), environment: environment) }
        do {
            let signals = try SignalPipe.ofProcess()
            // This thread ends with the process.
            _ = try NodeThread("chaos-signals") {
                var isSecond = false
                var watched = [Poll.item(signals.descriptor, POLLIN)]
                while Poll.wait(&watched) != nil || errno == EINTR {
                    while signals.next() != nil {
                        if isSecond { _exit(130) }
                        isSecond = true
                        task.cancel()
                    }
                }
            }
        } catch {
            StandardError.line("loop-chaos: \(error)")
        }
        StandardOutput.exit(await task.value, "loop-chaos")
    }
}
