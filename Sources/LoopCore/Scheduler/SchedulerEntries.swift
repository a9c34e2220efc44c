import LoopCollections

/// The scheduler's data of each effect, indexed by the effect's place in its owner's table, so that no look-up is needed.
struct SchedulerEntries: Sendable {
    enum Phase: UInt8, Sendable {
        /// It waits for its time, which is in the heap of delayed effects.
        case delayed
        /// It is in its group's queue.
        case queued
        /// It counts against the limits.
        case running
    }

    struct Entry: Sendable {
        /// The ticket of the effect; 0 if there is none at this place.
        var ticket: UInt64
        /// The position of its feedback's lane.
        var lane: Int32
        /// The position of its group in the lane.
        var group: Int32
        /// The priority; greater ones start sooner. 0 if there are no priorities.
        var priority: Int32
        /// The time at which it began to wait, moved by its priority; 0 if there are no priorities.
        var rank: Int64
        var phase: Phase
    }

    private var entries: [Entry] = []

    /// The effect at a place.
    subscript(place: Int32) -> Entry? {
        let place = Int(place)
        guard place < entries.count, entries[place].ticket != 0 else { return nil }
        return entries[place]
    }

    mutating func put(_ entry: Entry, at place: Int32) {
        while entries.count <= Int(place) { entries.append(.none) }
        entries[Int(place)] = entry
    }

    /// Changes the ticket and the rank of the waiting effect at a place.
    mutating func change(_ place: Int32, toTicket ticket: UInt64, rank: Int64, priority: Int32) {
        entries[Int(place)].ticket = ticket
        entries[Int(place)].rank = rank
        entries[Int(place)].priority = priority
    }

    mutating func change(_ place: Int32, to phase: Phase) { entries[Int(place)].phase = phase }

    mutating func take(_ place: Int32) -> Entry? {
        guard let entry = self[place] else { return nil }
        entries[Int(place)].ticket = 0
        return entry
    }

    /// Whether an effect still waits in line with this ticket. No ticket is given twice.
    func isQueued(_ ticket: LaneGroup.Ticket) -> Bool {
        entries[Int(ticket.place)].ticket == ticket.number && entries[Int(ticket.place)].phase == .queued
    }

    /// The entry of an effect that still waits for its time with this ticket.
    func delayed(_ ticket: LaneGroup.Ticket) -> Entry? {
        guard let entry = self[ticket.place], entry.phase == .delayed, entry.ticket == ticket.number else { return nil }
        return entry
    }
}

extension SchedulerEntries.Entry {
    /// The entry of a place without an effect.
    static let none = SchedulerEntries.Entry(ticket: 0, lane: 0, group: 0, priority: 0, rank: 0, phase: .running)
}
