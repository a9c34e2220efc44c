internal import LoopCluster
internal import LoopCore
internal import LoopView

extension StoreConnection {
    /// - Parameter shown: the seq of the newest state that has been decoded, or nil if there is none. A state that
    ///   cannot be decoded leaves the placeholder.
    init(_ standing: ObserverStanding, shown: Seq?) {
        guard let shown else {
            self = .connecting
            return
        }
        let seq = standing.state?.seq ?? shown
        self = standing.isCurrent ? .live(seq) : .behind(seq)
    }
}
