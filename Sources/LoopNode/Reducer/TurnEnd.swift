import LoopCluster
import LoopCore

/// How one turn of a reducer ended.
struct TurnEnd {
    var deadline: MonotonicTime
    /// Whether the local worker has messages, so that the next turn does not wait.
    var hasWork = false
    var outcome: Outcome?
    var historyLost: HistoryLost?
}
