import LoopCollections

/// The effects of a lane that share a limit or a share.
struct LaneGroup: Sendable {
    typealias Ticket = TicketQueue.Ticket

    /// Where a group stands.
    enum Standing: Equatable {
        /// Nothing is queued.
        case idle
        /// As many run as may.
        case full
        /// Its bucket has no token before this time; in the heap `short`.
        case short(until: MonotonicTime)
        /// May start; in the heap `offers` at this turn.
        case offered(Turn)
    }

    /// When a group's first effect is due, compared to those of others.
    struct Turn: Comparable {
        /// How many the group runs; 0 where shares are not asked for.
        var running: Int
        /// When one of the group was started last, by the count of starts; 0 where shares are not asked for.
        var served: UInt64
        var ticket: Ticket
        static func < (a: Turn, b: Turn) -> Bool {
            if a.running != b.running { return a.running < b.running }
            return a.served != b.served ? a.served < b.served : a.ticket < b.ticket
        }
    }

    struct Offer: Comparable {
        var turn: Turn
        var group: Int
        static func < (a: Offer, b: Offer) -> Bool { a.turn < b.turn }
    }

    /// Nil: no limit but the feedback's holds for it.
    var name: String?
    /// How many effects are of it, waiting or running.
    var count = 0
    var queue = TicketQueue()
    var queuedCount = 0
    var runningCount = 0
    var bucket: TokenBucket?
    var standing = Standing.idle
    /// When one of it was started last, by the count of starts; or how many there had been when it got its first effect.
    var served: UInt64 = 0

    mutating func enqueue(_ ticket: Ticket) {
        queue.push(ticket)
        queuedCount += 1
    }

    /// Lets the oldest one run.
    mutating func start(
        at now: MonotonicTime, begin: MonotonicTime, _ entries: borrowing SchedulerEntries
    ) -> Ticket? {
        while let ticket = queue.pop() {
            guard entries.isQueued(ticket) else { continue }
            queuedCount -= 1
            runningCount += 1
            bucket?.take(at: now, begin: begin)
            return ticket
        }
        return nil
    }

    /// One of them is no more.
    mutating func end(_ phase: SchedulerEntries.Phase) {
        count -= 1
        switch phase {
        case .delayed: break
        case .queued: queuedCount -= 1
        case .running: runningCount -= 1
        }
    }
}
