import LoopCore

/// Limits how many new connections a reducer takes in a second, with a bucket that is full at first. The bucket contains the
/// connections of a quarter of a second.
///
/// It closes when the bucket is empty, and opens again when the bucket has refilled for a tenth of a second.
struct ConnectionGate: Equatable {
    /// How many connections it takes in a second, at least 1.
    let perSecond: Int
    private(set) var isOpen = true
    /// The time at which the bucket was last empty, computed from its filling, or nil if it is full.
    private var emptyAt: MonotonicTime?

    init(perSecond: Int) { self.perSecond = max(1, perSecond) }

    private static var capacity: Duration { .milliseconds(250) }

    private var price: Duration { .nanoseconds(1_000_000_000 / perSecond) }

    /// The filling of the bucket, as the time that it took: up to a quarter of a second, and below zero if more were taken.
    private func filling(at now: MonotonicTime) -> Duration {
        emptyAt.map { min(now - $0, Self.capacity) } ?? Self.capacity
    }

    /// Notes that a connection was taken.
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
