import LoopCore

/// When ticks are due, and how many events come between them.
struct Ticks: Sendable {
    private(set) var nextAt: MonotonicTime
    private(set) var rate = EventRate()

    init(at now: MonotonicTime) { nextAt = now }

    /// - Returns: whether a tick is due. If so, the next one comes an interval later.
    mutating func begin(_ seq: Seq, _ context: TurnContext) -> Bool {
        let now = context.now.monotonic
        guard now >= nextAt else { return false }
        nextAt = now + context.configuration.tickInterval
        rate.sample(seq, at: now)
        return true
    }
}

/// Events per second over the last few ticks.
struct EventRate: Sendable {
    private var samples: [(seq: Seq, time: MonotonicTime)] = []

    mutating func sample(_ seq: Seq, at time: MonotonicTime) {
        samples.append((seq, time))
        if samples.count > 8 { samples.removeFirst() }
    }

    func perSecond(_ seq: Seq, at now: MonotonicTime) -> Double {
        guard let first = samples.first, now > first.time else { return 0 }
        return Double(seq.value - first.seq.value) / (now - first.time).inSeconds
    }
}
