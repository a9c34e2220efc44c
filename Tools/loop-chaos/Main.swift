import LoopChaos

/// Breaks the processes and the network of a ledger, and checks the promises afterwards.
@main
struct Main {
    static func main() async { await ChaosProgram.main() }
}
