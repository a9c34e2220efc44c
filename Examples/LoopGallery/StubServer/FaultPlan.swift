internal import LoopCore

/// Which of a server's answers fail, and how. The same seed gives the same faults for the same requests.
public struct FaultPlan: Equatable, Sendable {
    /// A fault of an answer.
    public enum Fault: String, CaseIterable, Sendable {
        /// It comes after three seconds.
        case slow
        /// It is an error of the server.
        case error = "500"
        /// It asks for a retry after a second.
        case busy = "429"
        /// It does not come: the connection is closed.
        case drop
    }

    /// The possible faults; none if empty.
    public var faults: [Fault]
    /// The share of answers with a fault, 0 to 1.
    public var share: Double
    /// How many answers may still have a fault; nil for any number.
    public var left: Int?
    private var random: SeededRandom

    /// - Parameter atMost: how many answers may have a fault; nil for any number.
    public init(_ faults: [Fault] = [], share: Double = 1, atMost: Int? = nil, seed: UInt64 = 0) {
        self.faults = faults
        self.share = share
        left = atMost
        random = SeededRandom(seed: seed)
    }

    /// The fault of the next answer.
    mutating func next() -> Fault? {
        guard !faults.isEmpty, left != 0, random.fraction() < share else { return nil }
        left = left.map { $0 - 1 }
        return faults[Int(random.next() % UInt64(faults.count))]
    }
}
