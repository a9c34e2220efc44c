import Glibc
import LoopTesting

/// Runs the cluster simulator: `loop-simulate [--seeds N] [--first-seed K] [--mutations]`.
@main
struct Main {
    static func main() {
        var seeds: UInt64 = 300
        var first: UInt64 = 0
        var huntsMutations = false
        var arguments = CommandLine.arguments.dropFirst()
        while let option = arguments.popFirst() {
            switch option {
            case "--seeds": seeds = number(option, arguments.popFirst())
            case "--first-seed": first = number(option, arguments.popFirst())
            case "--mutations": huntsMutations = true
            default: fail("unknown option \(option)")
            }
        }
        let (end, overflow) = first.addingReportingOverflow(seeds)
        if overflow { fail("--first-seed \(first) --seeds \(seeds) go beyond the largest seed") }
        if huntsMutations { exit(Simulation.runMutations(show) ? 0 : 1) }
        let report = Simulation.run(seeds: first..<end) { show("\($0)") }
        print(report)
        exit(report.isClean ? 0 : 1)
    }

    private static func show(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func number(_ option: String, _ text: String?) -> UInt64 {
        guard let text, let number = UInt64(text) else { fail("\(option) takes a number, not \(text ?? "nothing")") }
        return number
    }

    private static func fail(_ what: String) -> Never {
        print("loop-simulate: \(what)\nusage: loop-simulate [--seeds N] [--first-seed K] [--mutations]")
        exit(64)
    }
}
