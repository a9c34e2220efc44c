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
    /// How many answers may still go wrong; nil: any number.
    public var left: Int?
    private var random: SeededRandom

    /// - Parameter atMost: how many answers may go wrong; nil: any number.
    public init(_ faults: [Fault] = [], share: Double = 1, atMost: Int? = nil, seed: UInt64 = 0) {
        self.faults = faults
        self.share = share
        left = atMost
        random = SeededRandom(seed: seed)
    }

    /// What goes wrong with the next answer.
    mutating func next() -> Fault? {
        guard !faults.isEmpty, left != 0, random.fraction() < share else { return nil }
        left = left.map { $0 - 1 }
        return faults[Int(random.next() % UInt64(faults.count))]
    }
}
