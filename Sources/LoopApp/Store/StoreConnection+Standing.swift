internal import LoopCluster
internal import LoopView

extension StoreConnection {
    /// - Parameter hasState: whether a state has been read; one that cannot be read leaves the placeholder.
    init(_ standing: ObserverStanding, hasState: Bool) {
        guard hasState, let seq = standing.seq else {
            self = .connecting
            return
        }
        self = standing.isCurrent ? .live(seq) : .behind(seq)
    }
}
