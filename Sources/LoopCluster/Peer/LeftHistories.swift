package import LoopWire

/// The histories that a peer or an observer has left. Their late frames are dropped.
package struct LeftHistories: Equatable, Sendable {
    /// The histories, the newest last.
    private var histories: [History] = []

    private static var countMax: Int { 16 }

    package init() {}

    package func contains(_ history: History) -> Bool { histories.contains(history) }

    /// Adds a history. The oldest one is forgotten if there are too many.
    package mutating func insert(_ history: History) {
        guard history != .none, !histories.contains(history) else { return }
        histories = histories.suffix(Self.countMax - 1) + [history]
    }

    package mutating func remove(_ history: History) { histories.removeAll { $0 == history } }
}
