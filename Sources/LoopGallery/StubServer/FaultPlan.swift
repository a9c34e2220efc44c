internal import LoopCore

/// Which of a server's answers go wrong, and how. The same seed makes the same of the same requests.
public struct FaultPlan: Equatable, Sendable {
    /// What can go wrong with an answer.
    public enum Fault: String, CaseIterable, Sendable {
        /// It comes after three seconds.
        case slow
        /// It is an error of the server.
        case error = "500"
        /// It asks to come again after a second.
        case busy = "429"
        /// It does not come: the connection is closed.
        case drop
    }

    /// The faults that are drawn from; none: all goes well.
    public var faults: [Fault]
    /// The share of answers that go wrong, 0 to 1.
    public var share: Double
    private var random: SeededRandom

    public init(_ faults: [Fault] = [], share: Double = 1, seed: UInt64 = 0) {
        self.faults = faults
        self.share = share
        random = SeededRandom(seed: seed)
    }

    /// What goes wrong with the next answer.
    mutating func next() -> Fault? {
        guard !faults.isEmpty, random.fraction() < share else { return nil }
        return faults[Int(random.next() % UInt64(faults.count))]
    }
}
