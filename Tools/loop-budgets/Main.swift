import Glibc
import Linux
import LoopBudgets

/// Runs one case: `loop-budgets CASE COUNT` prints the exact count and the number of allocations. Without arguments it
/// prints the names of the cases. It is synchronous, so that a profiler which counts instructions can run it.
@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first else {
            for budget in Budget.all { print(budget.name) }
            StandardOutput.exit(0, "loop-budgets")
        }
        guard let budget = Budget.all.first(where: { $0.name == name }), arguments.count == 2,
            let count = Int(arguments[2]), count >= 1024
        else {
            print("loop-budgets: \(arguments.joined(separator: " ")) is not a case and a count of at least 1024")
            exit(64)
        }
        let result = budget.run(count)
        print(result.units, result.allocations)
        StandardOutput.exit(0, "loop-budgets")
    }
}
