import Glibc
import LoopTesting

/// Runs the cluster simulator.
@main
struct Main {
    static func main() {
        do {
            let command = try SimulateCommand(Array(CommandLine.arguments.dropFirst()))
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
