import LoopNode
import NewLoop

/// Runs effects: as many processes as you like, on any machine.
@main struct NewLoopWorker {
    static func main() async {
        await EffectNode.main {
            // Make what the effects need here with `try await`, such as a connection pool.
            NewLoop(services: .pretended)
        }
    }
}
