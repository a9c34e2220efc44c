import LoopNode
import NewLoop

/// Runs effects: as many processes as you like, on any machine.
@main struct NewLoopWorker {
    static func main() async { await EffectNode.main(NewLoop()) }
}
