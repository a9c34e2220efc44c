import LoopCore

/// How many new connections a reducer takes in a second: a bucket that is full at first, and holds those of a quarter of a second.
///
/// It closes when the bucket is empty, and opens again when the bucket has what a tenth of a second brings.
struct ConnectionGate: Equatable {
    /// How many connections a second brings; at least 1.
    let perSecond: Int
    private(set) var isOpen = true
    /// The time at which the bucket was last empty, counted back from how full it is now; nil: it is full.
    private var emptyAt: MonotonicTime?

    init(perSecond: Int) { self.perSecond = max(1, perSecond) }

    private static var capacity: Duration { .milliseconds(250) }

    private var price: Duration { .nanoseconds(1_000_000_000 / perSecond) }

    /// What is in the bucket, as the time that it took to fill: up to a quarter of a second, and below zero if more were taken.
    private func filling(at now: MonotonicTime) -> Duration {
        emptyAt.map { min(now - $0, Self.capacity) } ?? Self.capacity
    }

    /// A connection was taken.
    /// - Returns: whether the gate closes with it.
    mutating func take(at now: MonotonicTime) -> Bool {
        let rest = filling(at: now) - price
        emptyAt = now - rest
        guard isOpen, rest < price else { return false }
        isOpen = false
        return true
    }

    /// - Returns: whether the gate opens.
    mutating func advance(to now: MonotonicTime) -> Bool {
        guard !isOpen, filling(at: now) >= .milliseconds(100) else { return false }
        isOpen = true
        return true
    }
}
