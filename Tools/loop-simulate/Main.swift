import Glibc
import LoopTesting

/// Runs the cluster simulator.
@main
struct Main {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.contains("--help") || words.contains("-h") {
            print(SimulateCommand.usage)
            exit(0)
        }
        do {
            let command = try SimulateCommand(words)
            exit(
                command.run { line in
                    print(line)
                    fflush(nil)
                })
        } catch {
            print("loop-simulate: \(error.reason)\n\(SimulateCommand.usage)")
            exit(64)
        }
    }
}
