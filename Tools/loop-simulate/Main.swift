import Glibc
import Linux
import LoopSimulation

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
                do throws(OutputError) {
                    try StandardOutput.write("\(line)\n")
                } catch {
                    if !error.isReaderGone {
                        try? SystemCall.write(Array("loop-simulate: \(error)\n".utf8), to: 2)
                    }
                    exit(error.exitCode)
                }
            }
            StandardOutput.exit(code, "loop-simulate")
        } catch {
            print("loop-simulate: \(error.reason)\n\(SimulateCommand.usage)")
            exit(64)
        }
    }
}
