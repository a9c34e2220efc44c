/// The command line of `loop-simulate`.
package struct SimulateCommand: Equatable, Sendable {
    /// The options of the program, which are printed after a mistake.
    package static let usage = """
        usage: loop-simulate [--seeds N] [--first-seed K] [--seconds S]
                             [--mix MIX] [--without-faults LIST] [--simpler LIST] [--no-shrinking] [--transcript LINES]
               loop-simulate --mutations [--only RULE | --quick] [--seconds S]
        """

    /// A mistake in the arguments.
    package struct Mistake: Error, Equatable, Sendable {
        /// The wrong option or value, and the values that the option accepts.
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    private var seeds: UInt64 = 300
    private var first: UInt64 = 0
    private var seconds = Scenario(seed: 0).seconds
    private var mix = FaultMix.all
    private var withoutFaults: Set<Int> = []
    private var simpler: Set<Scenario.Simplification> = []
    private var shrinks = true
    private var lines = Scenario(seed: 0).transcriptLines
    private var huntsMutations = false
    private var only: String?
    private var isQuick = false

    /// - Throws: ``Mistake`` for an unknown option, or a value that it does not accept.
    package init(_ arguments: [String]) throws(Mistake) {
        var arguments = arguments[...]
        while let option = arguments.popFirst() {
            switch option {
            case "--seeds": seeds = try Self.number(option, arguments.popFirst(), in: 1...UInt64.max)
            case "--first-seed": first = try Self.number(option, arguments.popFirst(), in: 0...UInt64.max)
            case "--seconds": seconds = Int(try Self.number(option, arguments.popFirst(), in: 1...100_000))
            case "--mix": mix = try Self.mix(option, arguments.popFirst())
            case "--without-faults": withoutFaults = try Self.ranges(option, arguments.popFirst())
            case "--simpler": simpler = try Self.simplifications(option, arguments.popFirst())
            case "--no-shrinking": shrinks = false
            case "--transcript": lines = Int(try Self.number(option, arguments.popFirst(), in: 1...1_000_000))
            case "--mutations": huntsMutations = true
            case "--only": only = try Self.value(option, arguments.popFirst())
            case "--quick": isQuick = true
            default: throw Mistake(reason: "unknown option \(option)")
            }
        }
        if first.addingReportingOverflow(seeds).overflow {
            throw Mistake(reason: "--first-seed \(first) --seeds \(seeds) go beyond the largest seed")
        }
        if let only, !huntsMutations || !Mutation.all.contains(where: { $0.description == only }) {
            let known = Mutation.all.map(\.description).joined(separator: ", ")
            throw Mistake(reason: "--only takes one of --mutations (\(known)), not \(only)")
        }
        if isQuick, !huntsMutations || only != nil {
            throw Mistake(reason: "--quick goes with --mutations, and without --only")
        }
    }

    /// Runs the command.
    /// - Parameter show: prints one or more lines.
    /// - Returns: the exit code.
    package func run(_ show: (String) -> Void) -> Int32 {
        if huntsMutations {
            return Simulation.runMutations(only: only, quick: isQuick, seconds: seconds, show) ? 0 : 1
        }
        let scenarios = (first..<first + seeds).lazy.map { seed in
            var scenario = Scenario(seed: seed, seconds: seconds, mix: mix)
            scenario.withoutFaults = withoutFaults
            scenario.simpler = simpler
            scenario.transcriptLines = lines
            return scenario
        }
        let report = Simulation.run(scenarios) { failure in
            show("\(failure)")
            if shrinks { show("\(failure.shrunk())") }
        }
        show("\(report)")
        // A specific mix need not check every promise.
        return (mix == .all ? report.isClean : report.failures.isEmpty) ? 0 : 1
    }

    private static func value(_ option: String, _ text: String?) throws(Mistake) -> String {
        guard let text else { throw Mistake(reason: "\(option) takes a value") }
        return text
    }

    private static func number(
        _ option: String, _ text: String?, in range: ClosedRange<UInt64>
    ) throws(Mistake) -> UInt64 {
        let text = try value(option, text)
        guard let number = UInt64(text), range.contains(number) else {
            throw Mistake(reason: "\(option) takes a number from \(range.lowerBound), not \(text)")
        }
        return number
    }

    private static func mix(_ option: String, _ text: String?) throws(Mistake) -> FaultMix {
        let text = try value(option, text)
        guard let mix = FaultMix(rawValue: text) else {
            let known = FaultMix.allCases.map(\.rawValue).joined(separator: ", ")
            throw Mistake(reason: "\(option) takes one of \(known), not \(text)")
        }
        return mix
    }

    private static func ranges(_ option: String, _ text: String?) throws(Mistake) -> Set<Int> {
        let text = try value(option, text)
        guard let ranges = NumberRanges(text) else {
            throw Mistake(reason: "\(option) takes numbers such as 0-3,7, not \(text)")
        }
        return ranges.numbers
    }

    private static func simplifications(
        _ option: String, _ text: String?
    ) throws(Mistake) -> Set<Scenario.Simplification> {
        let found = Scenario.simplifications(try value(option, text))
        if let unknown = found.unknown.first {
            let known = Scenario.Simplification.allCases.map(\.rawValue).joined(separator: ", ")
            throw Mistake(reason: "\(option) takes some of \(known), not \(unknown)")
        }
        return found.known
    }
}
