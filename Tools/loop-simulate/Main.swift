import LoopSimulator

/// Runs the cluster simulator.
@main
struct Main {
    static func main() { SimulatorProgram.main() }
}
