import Glibc
import Linux
import LoopTesting

/// Runs the cluster simulator.
@main
struct Main {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.contains("--help") || words.contains("-h") {
            print(SimulateCommand.usage)
            StandardOutput.exit(0, "loop-simulate")
        }
        do {
            let command = try SimulateCommand(words)
            let code = command.run { line in
                print(line)
                fflush(nil)
            }
            StandardOutput.exit(code, "loop-simulate")
        } catch {
            print("loop-simulate: \(error.reason)\n\(SimulateCommand.usage)")
            exit(64)
        }
    }
}
