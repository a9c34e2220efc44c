import LoopCollections

/// What a scheduler knows of each effect, by the place at which the effect's owner keeps it: nothing has to be looked up.
struct SchedulerEntries: Sendable {
    enum Phase: UInt8, Sendable {
        /// Waits for its time, which the heap of delayed effects holds.
        case delayed
        /// Stands in its group's queue.
        case queued
        /// Counts against the limits.
        case running
    }

    struct Entry: Sendable {
        /// 0: there is no effect at this place.
        var ticket: UInt64
        /// The position of its feedback's lane.
        var lane: Int32
        /// The position of its group in the lane.
        var group: Int32
        /// The greater, the sooner; 0 where there is no priority.
        var priority: Int32
        /// What the priority makes of the time at which it began to wait; 0 where there is no priority.
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

    /// Fetches what is at a place into the processor's cache.
    func fetch(_ place: Int) { ProcessorCache.fetch(entries, at: place) }

    mutating func put(_ entry: Entry, at place: Int32) {
        while entries.count <= Int(place) { entries.append(.none) }
        entries[Int(place)] = entry
    }

    /// The effect at a place waits by another ticket, from another rank.
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

    /// Whether an effect still waits in line by this ticket; tickets are never given twice.
    func isQueued(_ ticket: TicketQueue.Ticket) -> Bool {
        entries[Int(ticket.place)].ticket == ticket.number && entries[Int(ticket.place)].phase == .queued
    }

    /// The entry of an effect that still waits for its time by this ticket.
    func delayed(_ ticket: TicketQueue.Ticket) -> Entry? {
        guard let entry = self[ticket.place], entry.phase == .delayed, entry.ticket == ticket.number else { return nil }
        return entry
    }
}

extension SchedulerEntries.Entry {
    /// What is at a place where no effect is.
    static let none = SchedulerEntries.Entry(ticket: 0, lane: 0, group: 0, priority: 0, rank: 0, phase: .running)
}
