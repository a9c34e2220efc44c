import LoopChaos

/// Breaks a ledger's processes and their network, and checks what must be true afterwards.
@main
struct Main {
    static func main() async { await ChaosProgram.main() }
}
