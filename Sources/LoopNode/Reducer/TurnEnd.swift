import LoopCluster
import LoopCore

/// How one turn of a reducer ended.
struct TurnEnd {
    var deadline: MonotonicTime
    /// The local worker has something to say: the next turn waits for nothing.
    var hasWork = false
    var outcome: Outcome?
    var historyLost: HistoryLost?
}
