import Glibc
import Linux
import LoopNode
import LoopSimulation

/// The program `loop-simulate`.
///
/// Exit codes: 0 all promises were kept, 1 one was not, 2 it could not print, 64 wrong usage.
package enum SimulatorProgram {
    private static let seeds = Option(
        "seeds", .int(in: 1 ... .max), default: 300, help: "how many clusters to run", environment: .none)
    private static let firstSeed = Option(
        "first-seed", .int(in: 0 ... .max), default: 0, help: "the seed of the first cluster", environment: .none)
    private static let seconds = Option(
        "seconds", .int(in: 1...100_000), default: Scenario(seed: 0).seconds,
        help: "how long faults come, in virtual seconds", environment: .none)
    private static let mix = Option(
        "mix", .choice, default: FaultMix.all, help: "which faults come", environment: .none)
    private static let withoutFaults = Option(
        optional: "without-faults", .ranges, help: "faults to leave out, by their numbers", environment: .none)
    private static let simpler = Option(
        optional: "simpler", .simplifications, help: "ways in which clusters are simpler than their seeds' own",
        environment: .none)
    private static let noShrinking = Option(
        flag: "no-shrinking", help: "do not reduce a failure to fewer faults", environment: .none)
    private static let transcript = Option(
        "transcript", .int(in: 1...1_000_000), default: Scenario(seed: 0).transcriptLines,
        help: "how many messages a failure shows", environment: .none)
    private static let mutations = Option(
        flag: "mutations", help: "break one rule after the other, each of which a checker must notice",
        environment: .none)
    private static let only = Option(
        optional: "only", .choice(Mutation.all.map(\.description)).named("RULE"),
        help: "with --mutations: the only rule",
        environment: .none)
    private static let quick = Option(
        flag: "quick", help: "with --mutations: only rules whose violation shows soon", environment: .none)

    private static let command = Command(
        "loop-simulate", abstract: "Run simulated clusters under faults, and check every promise.",
        groups: [
            OptionGroup("Clusters", [seeds, firstSeed, seconds, mix, withoutFaults, simpler, noShrinking, transcript]),
            OptionGroup("Rules", [mutations, only, quick]),
        ])

    /// Runs this process's own command line, and exits.
    package static func main() -> Never {
        do {
            switch try command.parse(Array(CommandLine.arguments.dropFirst())) {
            case .text(let text):
                show(text)
                exit(0)
            case .arguments(let arguments): exit(try run(arguments))
            }
        } catch {
            exit(ProgramFailure.code(of: error, in: command.name))
        }
    }

    /// - Returns: the exit code.
    private static func run(_ arguments: ParsedArguments) throws(UsageError) -> Int32 {
        let (first, count, mix) = (arguments[firstSeed], arguments[seeds], arguments[mix])
        if count > Int.max - first {
            throw UsageError(message: "--first-seed \(first) --seeds \(count) go beyond the largest seed")
        }
        let (only, isQuick) = (arguments[only], arguments[quick])
        if only != nil || isQuick, !arguments[mutations] {
            throw UsageError(message: "--only and --quick go with --mutations")
        }
        if only != nil, isQuick { throw UsageError(message: "--quick goes without --only") }
        if arguments[mutations] {
            return Simulation.runMutations(only: only, quick: isQuick, seconds: arguments[seconds], show) ? 0 : 1
        }
        let scenarios = (first..<first + count).lazy.map { seed in
            var scenario = Scenario(seed: UInt64(seed), seconds: arguments[seconds], mix: mix)
            scenario.withoutFaults = arguments[withoutFaults]?.numbers ?? []
            scenario.simpler = arguments[simpler] ?? []
            scenario.transcriptLines = arguments[transcript]
            return scenario
        }
        let report = Simulation.run(scenarios) { failure in
            show("\(failure)")
            if !arguments[noShrinking] { show("\(failure.shrunk())") }
        }
        show("\(report)")
        // A specific mix need not check every promise.
        return (mix == .all ? report.isClean : report.failures.isEmpty) ? 0 : 1
    }

    /// Prints one or more lines, or ends the program if that is not possible.
    private static func show(_ text: String) {
        do throws(OutputError) {
            try StandardOutput.write("\(text)\n")
        } catch {
            exit(ProgramFailure.code(of: error, in: command.name))
        }
    }
}

extension ValueType where Value == NumberRanges {
    fileprivate static var ranges: ValueType {
        ValueType(
            placeholder: "LIST", expected: "numbers such as 0-3,7", read: { NumberRanges($0) }, write: \.description)
    }
}

extension ValueType where Value == Set<Scenario.Simplification> {
    fileprivate static var simplifications: ValueType {
        let known = Scenario.Simplification.allCases.map(\.rawValue).joined(separator: ", ")
        return ValueType(
            placeholder: "LIST", expected: "some of \(known), separated by commas",
            read: { text in
                let found = Scenario.simplifications(text)
                return found.unknown.isEmpty ? found.known : nil
            }, write: { $0.map(\.rawValue).joined(separator: ",") })
    }
}
