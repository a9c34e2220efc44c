import LoopWire

/// The histories that a peer or an observer has left. Late frames of them are dropped.
struct LeftHistories: Equatable, Sendable {
    /// The newest last.
    private var histories: [History] = []

    private static var countMax: Int { 16 }

    func contains(_ history: History) -> Bool { histories.contains(history) }

    /// The history has been left. The oldest one is forgotten if there are too many.
    mutating func insert(_ history: History) {
        guard history != .none, !histories.contains(history) else { return }
        histories = histories.suffix(Self.countMax - 1) + [history]
    }

    mutating func remove(_ history: History) { histories.removeAll { $0 == history } }
}
