import LoopNode
import NewLoop

/// Runs effects: as many processes as you like, on any machine.
@main struct NewLoopWorker {
    static func main() async {
        await EffectNode.main {
            // What the effects need, such as a pool of connections, can be made here with `try await`.
            NewLoop(services: .pretended)
        }
    }
}
