import LoopCollections

/// The waiting and running effects of one feedback, within the feedback's limits.
///
///     add ──▶ delayed ──time──▶ queued in its group ──▶ running ──▶ gone
///                ▲                  group: idle, full, short of tokens, or offered with its oldest effect
///                └──────────────────── requeue ────────────┘
///
/// The offered groups are in a heap by their oldest effect, so that a group at its limit costs nothing and blocks no other. If
/// shares are fair, groups that run fewer effects come first. Heaps are cleaned lazily: an item is valid only while the entry or
/// the group still names it. Without limits or shares of groups, all effects are in one unnamed group, and nothing is offered.
struct SchedulerLane: Sendable {
    typealias Entry = SchedulerEntries.Entry

    /// A new effect that waits or runs.
    struct Arrival {
        let place: Int32
        /// The position of the lane.
        let lane: Int32
        let ticket: UInt64
        let priority: Int32
    }

    private typealias Ticket = LaneGroup.Ticket
    private typealias Group = LaneGroup
    private typealias Offer = LaneGroup.Offer

    private struct Delay: Comparable {
        var until: MonotonicTime
        var ticket: Ticket
        static func < (a: Delay, b: Delay) -> Bool {
            a.until != b.until ? a.until < b.until : a.ticket.number < b.ticket.number
        }
    }

    private let policy: EffectPolicy
    private let isGrouped: Bool
    private let concurrency: Int
    private var count = 0
    /// The groups, the unnamed one first. Positions are reused.
    private var groups = [Group()]
    private var positions: [String: Int] = [:]
    private var freePositions: [Int] = []
    private var delays = BinaryHeap<Delay>()
    private var offers = BinaryHeap<Offer>()
    private var short = GroupTimes()
    /// Idle groups whose buckets are not yet full.
    private var idle = GroupTimes()
    private var bucket: TokenBucket?
    private var delayedCount = 0
    private(set) var runningCount = 0
    /// How many effects have started so far.
    private var starts: UInt64 = 0
    /// The time of the scheduler's first `next`, or nil before it.
    private var begin: MonotonicTime?
    /// The latest time that a caller has passed.
    private var clock = MonotonicTime.zero

    init(policy: EffectPolicy) {
        self.policy = policy
        isGrouped = policy.concurrencyPerGroup != nil || policy.ratePerGroup != nil || policy.isFair
        concurrency = policy.concurrency ?? .max
        bucket = policy.rate.map(TokenBucket.init)
    }

    var waitingCount: Int { count - runningCount }

    /// The number of remembered groups.
    var groupCount: Int { positions.count + (groups[0].count == 0 ? 0 : 1) }

    /// The number of times for which groups wait, including those that are no longer needed.
    var groupTimesCount: Int { short.count + idle.count }

    // MARK: Life of an effect

    /// Adds a waiting effect at a free place.
    mutating func add(
        _ new: Arrival, group: String?, notBefore: MonotonicTime?, _ entries: inout SchedulerEntries
    ) {
        add(new, to: position(of: group), notBefore: notBefore, &entries)
    }

    private mutating func add(
        _ new: Arrival, to group: Int, notBefore: MonotonicTime?, _ entries: inout SchedulerEntries
    ) {
        let isDelayed = notBefore.map { $0 > clock } ?? false
        let rank = rank(ofPriority: new.priority)
        entries.put(entry(new, group, rank, isDelayed ? .delayed : .queued), at: new.place)
        beginWaiting(group)
        count += 1
        groups[group].count += 1
        let ticket = Ticket(rank: rank, number: new.ticket, place: new.place)
        if isDelayed, let notBefore {
            delayedCount += 1
            delays.push(Delay(until: notBefore, ticket: ticket))
        } else {
            enqueue(ticket, group: group, entries)
        }
    }

    /// Makes a group that had no effects the last of the waiting groups.
    private mutating func beginWaiting(_ group: Int) {
        if groups[group].count == 0 { groups[group].served = starts }
    }

    private func entry(_ new: Arrival, _ group: Int, _ rank: Int64, _ phase: SchedulerEntries.Phase) -> Entry {
        Entry(
            ticket: new.ticket, lane: new.lane, group: Int32(group), priority: new.priority, rank: rank, phase: phase)
    }

    mutating func requeue(_ again: Arrival, notBefore: MonotonicTime?, _ entries: inout SchedulerEntries) {
        guard let group = entries[again.place].map({ Int($0.group) }) else { return }
        // The count is raised meanwhile, so that `remove` does not retire the group.
        groups[group].count += 1
        remove(at: again.place, &entries)
        add(again, to: group, notBefore: notBefore, &entries)
        groups[group].count -= 1
    }

    /// Changes the priority of the effect at a place.
    mutating func prioritize(at place: Int32, _ priority: Int32, ticket: UInt64, _ entries: inout SchedulerEntries) {
        guard let step = policy.priorityStep, let entry = entries[place] else { return }
        let change = Self.waiting(step, Int64(entry.priority) - Int64(priority))
        let rank = Self.sum(entry.rank, change)
        guard entry.phase == .queued else {
            return entries.change(place, toTicket: entry.ticket, rank: rank, priority: priority)
        }
        // From here on the old ticket in the line is dead.
        entries.change(place, toTicket: ticket, rank: rank, priority: priority)
        groups[Int(entry.group)].queuedCount -= 1
        enqueue(Ticket(rank: rank, number: ticket, place: place), group: Int(entry.group), entries)
        compactQueue(Int(entry.group), entries)
    }

    /// The time at which the effect begins to wait, moved by its priority, in nanoseconds.
    private func rank(ofPriority priority: Int32) -> Int64 {
        guard let step = policy.priorityStep else { return 0 }
        return Self.sum(Int64(clamping: clock.nanoseconds), Self.waiting(step, -Int64(priority)))
    }

    private static func waiting(_ step: Duration, _ count: Int64) -> Int64 {
        let (product, overflow) = step.wholeNanoseconds.multipliedReportingOverflow(by: count)
        return overflow ? (count < 0 ? .min : .max) : product
    }

    private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? (b < 0 ? .min : .max) : sum
    }

    mutating func adopt(_ new: Arrival, group: String?, _ entries: inout SchedulerEntries) {
        let place = new.place
        let known = entries[place]
        if let known, known.phase == .running { return }
        let group = known.map { Int($0.group) } ?? position(of: group)
        beginWaiting(group)
        groups[group].count += 1
        remove(at: place, &entries)
        entries.put(entry(new, group, 0, .running), at: place)
        count += 1
        runningCount += 1
        groups[group].runningCount += 1
        review(group, entries)
    }

    mutating func remove(at place: Int32, _ entries: inout SchedulerEntries) {
        guard let entry = entries.take(place) else { return }
        let group = Int(entry.group)
        count -= 1
        groups[group].end(entry.phase)
        switch entry.phase {
        case .delayed:
            delayedCount -= 1
            cleanDelays(entries)
        case .queued:
            // The dead ticket remains in the line until it is the first, unless there are too many of these.
            compactQueue(group, entries)
        case .running: runningCount -= 1
        }
        review(group, entries)
    }

    /// Starts the oldest effect that may start now.
    /// - Returns: the place of the effect.
    mutating func start(at now: MonotonicTime, _ entries: inout SchedulerEntries) -> Int32? {
        guard isOpen(at: now), let begin, let group = isGrouped ? offers.top?.group : 0 else { return nil }
        guard let found = groups[group].start(at: now, begin: begin, entries) else { return nil }
        entries.change(found.place, to: .running)
        runningCount += 1
        starts += 1
        groups[group].served = starts
        bucket?.take(at: now, begin: begin)
        review(group, entries)
        return found.place
    }

    /// Whether `start` would return an effect.
    func canStart(at now: MonotonicTime) -> Bool { hasOffer && isOpen(at: now) }

    private var hasOffer: Bool { isGrouped ? offers.top != nil : groups[0].queuedCount > 0 }

    // MARK: Time

    /// Queues effects whose delay is over, and offers groups whose bucket has a token again.
    mutating func advance(to now: MonotonicTime, _ entries: inout SchedulerEntries) {
        if begin == nil { begin = now }
        clock = max(clock, now)
        if delays.count > 0 { endDelays(&entries) }
        guard isGrouped else { return }
        while let item = short.top, item.time <= clock {
            short.pop()
            if isLive(short: item) {
                groups[item.group].standing = .idle
                review(item.group, entries)
            }
        }
        while let item = idle.top, item.time <= clock {
            idle.pop()
            forget(item.group)
        }
        cleanGroups()
    }

    private mutating func endDelays(_ entries: inout SchedulerEntries) {
        while let delay = delays.top, delay.until <= clock {
            delays.pop()
            guard let entry = entries.delayed(delay.ticket) else { continue }
            delayedCount -= 1
            entries.change(delay.ticket.place, to: .queued)
            let ticket = Ticket(rank: entry.rank, number: entry.ticket, place: delay.ticket.place)
            enqueue(ticket, group: Int(entry.group), entries)
        }
        // A dead item on top would give a deadline for no effect.
        cleanDelays(entries)
    }

    /// The earliest start of an effect that waits for time alone.
    func deadline(after now: MonotonicTime) -> MonotonicTime? {
        guard hasCapacity else { return nil }
        let open = begin.flatMap { begin in bucket?.readyAt(begin: begin) } ?? now
        var earliest: MonotonicTime?
        if hasOffer {
            // The effect is within its limits, so it waits for capacity, unless the feedback's bucket is empty.
            if open > now { return open }
        }
        if let delay = delays.top { earliest = delay.until }
        if let item = short.top { earliest = min(earliest ?? item.time, item.time) }
        return earliest.map { max($0, open, now) }
    }

    /// What keeps an effect from being the next, besides capacity and its order in line.
    func obstacle(of entry: Entry, at now: MonotonicTime) -> SchedulerObstacle? {
        let group = groups[Int(entry.group)]
        switch entry.phase {
        case .running: return nil
        case .delayed: return .delay
        case .queued: break
        }
        if let name = group.name, let limit = policy.concurrencyPerGroup, group.runningCount >= limit {
            return .groupConcurrency(name, limit)
        }
        if !hasCapacity { return .concurrency(concurrency) }
        guard let begin else { return nil }
        if let name = group.name, let ready = group.bucket?.readyAt(begin: begin), ready > now {
            return .groupRate(name, until: ready)
        }
        if let ready = bucket?.readyAt(begin: begin), ready > now { return .rate(until: ready) }
        return nil
    }

    // MARK: Capacity

    private var hasCapacity: Bool { runningCount < concurrency }

    private func isOpen(at now: MonotonicTime) -> Bool {
        guard hasCapacity, let begin else { return false }
        return bucket.map { $0.readyAt(begin: begin) <= now } ?? true
    }

    private mutating func enqueue(_ ticket: Ticket, group: Int, _ entries: borrowing SchedulerEntries) {
        groups[group].enqueue(ticket)
        review(group, entries)
    }

    /// Updates the standing of a group after a change to it.
    private mutating func review(_ group: Int, _ entries: borrowing SchedulerEntries) {
        // A lane with one line is examined when an effect may start. Only groups must be compared with each other.
        guard isGrouped else { return }
        cleanQueue(group, entries)
        let standing = standing(of: groups[group])
        if standing != groups[group].standing {
            groups[group].standing = standing
            switch standing {
            case .offered(let turn): offers.push(Offer(turn: turn, group: group))
            case .short(let until): short.push(until, group: group)
            case .idle, .full: break
            }
        }
        if groups[group].count == 0 { retire(group) }
        cleanGroups()
    }

    private func standing(of group: Group) -> Group.Standing {
        guard group.queuedCount > 0, let oldest = group.queue.top else { return .idle }
        if group.name != nil, let limit = policy.concurrencyPerGroup, group.runningCount >= limit { return .full }
        if let bucket = group.bucket {
            // Before the scheduler's first `next` no bucket has a token. The first `advance` reviews the group again.
            guard let begin else { return .short(until: .zero) }
            let ready = bucket.readyAt(begin: begin)
            if ready > clock { return .short(until: ready) }
        }
        guard policy.isFair else { return .offered(Group.Turn(running: 0, served: 0, ticket: oldest)) }
        return .offered(Group.Turn(running: group.runningCount, served: group.served, ticket: oldest))
    }

    // MARK: Groups

    /// The position of a group. A group with a new name gets a new position.
    private mutating func position(of name: String?) -> Int {
        guard isGrouped, let name else { return 0 }
        if let known = positions[name] { return known }
        let group = Group(name: name, bucket: policy.ratePerGroup.map(TokenBucket.init))
        let position = freePositions.popLast() ?? groups.count
        if position == groups.count { groups.append(group) } else { groups[position] = group }
        positions[name] = position
        return position
    }

    /// Forgets a group without effects as soon as its bucket is as full as an unused one.
    private mutating func retire(_ group: Int) {
        guard let bucket = groups[group].bucket, !bucket.isFresh, let begin else { return drop(group) }
        idle.push(bucket.fullAt(begin: begin), group: group)
    }

    private mutating func forget(_ group: Int) {
        guard let begin, groups[group].count == 0 else { return }
        if groups[group].bucket.map({ $0.fullAt(begin: begin) <= clock }) ?? true { drop(group) }
    }

    private mutating func drop(_ group: Int) {
        guard let name = groups[group].name else { return }
        positions[name] = nil
        groups[group] = Group()
        freePositions.append(group)
    }

    private static func isLive(_ offer: Offer, _ groups: [Group]) -> Bool {
        groups[offer.group].standing == .offered(offer.turn)
    }

    private func isLive(short item: GroupTimes.Item) -> Bool {
        groups[item.group].standing == .short(until: item.time)
    }

    private mutating func cleanDelays(_ entries: borrowing SchedulerEntries) {
        while let top = delays.top, entries.delayed(top.ticket) == nil { delays.pop() }
        guard delays.isBloated(live: delayedCount) else { return }
        let entries = copy entries
        delays.compact { entries.delayed($0.ticket) != nil }
    }

    private mutating func cleanQueue(_ group: Int, _ entries: borrowing SchedulerEntries) {
        while let top = groups[group].queue.top, !entries.isQueued(top) { groups[group].queue.pop() }
        compactQueue(group, entries)
    }

    private mutating func compactQueue(_ group: Int, _ entries: borrowing SchedulerEntries) {
        guard groups[group].queue.isBloated(live: groups[group].queuedCount) else { return }
        let entries = copy entries
        groups[group].queue.compact { entries.isQueued($0) }
    }

    private mutating func cleanGroups() {
        while let top = offers.top, !Self.isLive(top, groups) { offers.pop() }
        while let top = short.top, !isLive(short: top) { short.pop() }
        if offers.isBloated(live: positions.count) {
            let groups = groups
            offers.compact { Self.isLive($0, groups) }
        }
    }
}
