internal import LoopCore

/// The faults of a server's answers. Equal seeds give equal faults for equal requests.
package struct FaultPlan: Equatable, Sendable {
    /// A fault of an answer.
    package enum Fault: String, CaseIterable, Sendable {
        /// The answer comes after three seconds.
        case slow
        /// The answer is a server error.
        case error = "500"
        /// The answer says that there are too many requests.
        case busy = "429"
        /// There is no answer: the connection is closed.
        case drop
    }

    /// The possible faults; none if empty.
    package var faults: [Fault]
    /// The share of answers with a fault, 0 to 1.
    package var share: Double
    /// How many answers may still have a fault, or nil for any number.
    package var left: Int?
    private var random: SeededRandom

    /// - Parameter atMost: how many answers may have a fault, or nil for any number.
    package init(_ faults: [Fault] = [], share: Double = 1, atMost: Int? = nil, seed: UInt64 = 0) {
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
