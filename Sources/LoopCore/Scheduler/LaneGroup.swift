import LoopCollections

/// The effects of a lane that share a limit or a share.
struct LaneGroup: Sendable {
    /// The position of a waiting effect in its group. The smallest starts first.
    struct Ticket: Comparable {
        /// The time at which the effect began to wait, moved by its priority; 0 if there are no priorities.
        var rank: Int64 = 0
        /// A number that is given once, in ascending order.
        var number: UInt64
        /// The place of the effect in the table of all effects.
        var place: Int32
        static func < (a: Ticket, b: Ticket) -> Bool { a.rank != b.rank ? a.rank < b.rank : a.number < b.number }
    }

    /// The condition of a group.
    enum Standing: Equatable {
        /// Nothing is queued.
        case idle
        /// It runs as many effects as it may.
        case full
        /// Its bucket has no token before this time. It is in the heap `short`.
        case short(until: MonotonicTime)
        /// It may start an effect. It is in the heap `offers` at this turn.
        case offered(Turn)
    }

    /// The key by which groups are ordered for the next start.
    struct Turn: Comparable {
        /// How many effects the group runs; 0 if shares are not fair.
        var running: Int
        /// The count of starts at the group's last start; 0 if shares are not fair.
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

    /// The name of the group, or nil if only the feedback's limits apply.
    var name: String?
    /// The number of its effects, waiting or running.
    var count = 0
    var queue = BinaryHeap<Ticket>()
    var queuedCount = 0
    var runningCount = 0
    var bucket: TokenBucket?
    var standing = Standing.idle
    /// The count of starts at its last start, or at its first effect if none has started.
    var served: UInt64 = 0

    mutating func enqueue(_ ticket: Ticket) {
        queue.push(ticket)
        queuedCount += 1
    }

    /// Starts the oldest effect.
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

    /// Counts the end of one of its effects.
    mutating func end(_ phase: SchedulerEntries.Phase) {
        count -= 1
        switch phase {
        case .delayed: break
        case .queued: queuedCount -= 1
        case .running: runningCount -= 1
        }
    }
}
