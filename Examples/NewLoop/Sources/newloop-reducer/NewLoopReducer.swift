import LoopNode
import NewLoop

/// Owns the state: one process, with a journal.
@main struct NewLoopReducer {
    static func main() async { await ReducerNode.main(NewLoop()) }
}
