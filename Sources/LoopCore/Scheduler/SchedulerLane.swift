/// The waiting and running effects of one feedback, within the feedback's limits.
///
///     add ──▶ delayed ──time──▶ queued in its group ──▶ running ──▶ gone
///                ▲                  group: idle, full, short of tokens, or offered with its oldest effect
///                └──────────────────── requeue ────────────┘
///
/// The offered groups stand in a heap by their oldest effect, so that a group at its limit costs nothing and blocks
/// nobody. Heaps are cleaned lazily: an item counts only while the entry or the group still names it. Where groups have no
/// limits all effects are of the one group without a name, and there is nothing to offer.
struct SchedulerLane: Sendable {
    private enum Phase {
        /// Waits for its time, which the heap of delayed effects holds.
        case delayed
        /// Stands in its group's queue.
        case queued
        /// Counts against the limits.
        case running
    }

    private struct Entry {
        var ticket: UInt64
        /// The position of its group.
        var group: Int32
        var phase: Phase
    }

    /// Where a group stands.
    private enum Standing: Equatable {
        /// Nothing is queued.
        case idle
        /// As many run as may.
        case full
        /// Its bucket has no token before this time; in the heap `short`.
        case short(until: MonotonicTime)
        /// May start; in the heap `offers` with the ticket of its oldest effect.
        case offered(ticket: UInt64)
    }

    private struct Group {
        /// Nil: no limit but the feedback's holds for it.
        var name: String?
        /// How many effects are of it, waiting or running.
        var count = 0
        var queue = TicketQueue()
        var queuedCount = 0
        var runningCount = 0
        var bucket: TokenBucket?
        var standing = Standing.idle
    }

    private typealias Ticket = TicketQueue.Ticket

    private struct Offer: Comparable {
        var ticket: UInt64
        var group: Int
        static func < (a: Offer, b: Offer) -> Bool { a.ticket < b.ticket }
    }

    private struct Delay: Comparable {
        var until: MonotonicTime
        var ticket: Ticket
        static func < (a: Delay, b: Delay) -> Bool {
            a.until != b.until ? a.until < b.until : a.ticket < b.ticket
        }
    }

    private struct GroupTime: Comparable {
        var time: MonotonicTime
        var group: Int
        static func < (a: GroupTime, b: GroupTime) -> Bool { a.time < b.time }
    }

    private let policy: EffectPolicy
    private let isGrouped: Bool
    private let concurrency: Int
    private var entries = HashTable<EffectID, Entry>()
    /// The first is the one without a name. Positions are given again.
    private var groups = [Group()]
    private var positions: [String: Int] = [:]
    private var freePositions: [Int] = []
    private var delays = BinaryHeap<Delay>()
    private var offers = BinaryHeap<Offer>()
    private var short = BinaryHeap<GroupTime>()
    /// Idle groups whose buckets are not yet full.
    private var idle = BinaryHeap<GroupTime>()
    private var bucket: TokenBucket?
    private var delayedCount = 0
    private(set) var runningCount = 0
    /// When the scheduler began; nil before its first `next`.
    private var begin: MonotonicTime?
    /// The latest time heard of.
    private var clock = MonotonicTime.zero

    init(policy: EffectPolicy) {
        self.policy = policy
        isGrouped = policy.concurrencyPerGroup != nil || policy.ratePerGroup != nil
        concurrency = policy.concurrency ?? .max
        bucket = policy.rate.map(TokenBucket.init)
    }

    var waitingCount: Int { entries.count - runningCount }

    /// The number of groups that are remembered.
    var groupCount: Int { positions.count + (groups[0].count == 0 ? 0 : 1) }

    // MARK: Life of an effect

    mutating func add(_ id: EffectID, group: String?, notBefore: MonotonicTime?, ticket: UInt64) {
        guard entries.find(id, id.mixed) == nil else { return }
        add(id, to: position(of: group), notBefore: notBefore, ticket: ticket)
    }

    private mutating func add(_ id: EffectID, to group: Int, notBefore: MonotonicTime?, ticket: UInt64) {
        let isDelayed = notBefore.map { $0 > clock } ?? false
        let entry = Entry(ticket: ticket, group: Int32(group), phase: isDelayed ? .delayed : .queued)
        entries.insert(id, entry, id.mixed)
        groups[group].count += 1
        let ticket = Ticket(number: ticket, id: id)
        if isDelayed, let notBefore {
            delayedCount += 1
            delays.push(Delay(until: notBefore, ticket: ticket))
        } else {
            enqueue(ticket, group: group)
        }
    }

    mutating func requeue(_ id: EffectID, notBefore: MonotonicTime?, ticket: UInt64) {
        guard let group = entries[id].map({ Int($0.group) }) else { return }
        // A known effect keeps its group while it changes its place.
        groups[group].count += 1
        remove(id)
        add(id, to: group, notBefore: notBefore, ticket: ticket)
        groups[group].count -= 1
    }

    mutating func adopt(_ id: EffectID, group: String?, ticket: UInt64) {
        let known = entries[id]
        if let known, known.phase == .running { return }
        let group = known.map { Int($0.group) } ?? position(of: group)
        groups[group].count += 1
        remove(id)
        entries.insert(id, Entry(ticket: ticket, group: Int32(group), phase: .running), id.mixed)
        runningCount += 1
        groups[group].runningCount += 1
        review(group)
    }

    mutating func remove(_ id: EffectID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        let group = Int(entry.group)
        groups[group].count -= 1
        switch entry.phase {
        case .delayed:
            delayedCount -= 1
            cleanDelays()
        case .queued:
            groups[group].queuedCount -= 1
            // Its ticket stays in line until its turn comes, unless there are too many of these.
            compactQueue(group)
        case .running:
            runningCount -= 1
            groups[group].runningCount -= 1
        }
        review(group)
    }

    /// Starts the oldest effect that its limits let start now.
    mutating func start(at now: MonotonicTime) -> EffectID? {
        guard isOpen(at: now), let begin, let group = isGrouped ? offers.top?.group : 0 else { return nil }
        var found: (ticket: Ticket, place: Int)?
        while found == nil, let ticket = groups[group].queue.pop() {
            if let place = Self.place(ofQueued: ticket, entries) { found = (ticket, place) }
        }
        guard let (ticket, place) = found else { return nil }
        entries[at: place].phase = .running
        runningCount += 1
        bucket?.take(at: now, begin: begin)
        groups[group].queuedCount -= 1
        groups[group].runningCount += 1
        groups[group].bucket?.take(at: now, begin: begin)
        review(group)
        return ticket.id
    }

    /// Whether `start` would find an effect.
    func canStart(at now: MonotonicTime) -> Bool { hasOffer && isOpen(at: now) }

    private var hasOffer: Bool { isGrouped ? offers.top != nil : groups[0].queuedCount > 0 }

    // MARK: Time

    /// Lets what waited for time take its place.
    mutating func advance(to now: MonotonicTime) {
        if begin == nil { begin = now }
        clock = max(clock, now)
        if delays.count > 0 { endDelays() }
        guard isGrouped else { return }
        while let item = short.top, item.time <= clock {
            short.pop()
            if isLive(short: item) {
                groups[item.group].standing = .idle
                review(item.group)
            }
        }
        while let item = idle.top, item.time <= clock {
            idle.pop()
            forget(item.group)
        }
        cleanGroups()
    }

    private mutating func endDelays() {
        while let delay = delays.top, delay.until <= clock {
            delays.pop()
            guard let entry = live(delay) else { continue }
            delayedCount -= 1
            entries[delay.ticket.id]?.phase = .queued
            enqueue(delay.ticket, group: Int(entry.group))
        }
        // What is dead must not stand on top: the deadline would be that of nobody.
        cleanDelays()
    }

    /// When something that waits for time alone may start.
    func deadline(after now: MonotonicTime) -> MonotonicTime? {
        guard hasRoom else { return nil }
        let open = begin.flatMap { begin in bucket?.readyAt(begin: begin) } ?? now
        var earliest: MonotonicTime?
        if hasOffer {
            // Limits let it start: it waits for a place, unless the feedback's bucket is empty.
            if open > now { return open }
        }
        if let delay = delays.top { earliest = delay.until }
        if let item = short.top { earliest = min(earliest ?? item.time, item.time) }
        return earliest.map { max($0, open, now) }
    }

    // MARK: Places

    private var hasRoom: Bool { runningCount < concurrency }

    private func isOpen(at now: MonotonicTime) -> Bool {
        guard hasRoom, let begin else { return false }
        return bucket.map { $0.readyAt(begin: begin) <= now } ?? true
    }

    private mutating func enqueue(_ ticket: Ticket, group: Int) {
        groups[group].queue.push(ticket)
        groups[group].queuedCount += 1
        review(group)
    }

    /// Finds out where a group stands after anything about it has changed.
    private mutating func review(_ group: Int) {
        // A feedback's one line is looked at when somebody may start; only groups are compared by who is first.
        guard isGrouped else { return }
        cleanQueue(group)
        let standing = standing(of: groups[group])
        if standing != groups[group].standing {
            groups[group].standing = standing
            switch standing {
            case .offered(let ticket): offers.push(Offer(ticket: ticket, group: group))
            case .short(let until): short.push(GroupTime(time: until, group: group))
            case .idle, .full: break
            }
        }
        if groups[group].count == 0 { retire(group) }
        cleanGroups()
    }

    private func standing(of group: Group) -> Standing {
        guard group.queuedCount > 0, let oldest = group.queue.top else { return .idle }
        if group.name != nil, let limit = policy.concurrencyPerGroup, group.runningCount >= limit { return .full }
        if let bucket = group.bucket {
            // Before the scheduler began no bucket has a token; the first `advance` looks again.
            guard let begin else { return .short(until: .zero) }
            let ready = bucket.readyAt(begin: begin)
            if ready > clock { return .short(until: ready) }
        }
        return .offered(ticket: oldest.number)
    }

    // MARK: Groups

    /// The position of a group, which is a new one where there is none of its name.
    private mutating func position(of name: String?) -> Int {
        guard isGrouped, let name else { return 0 }
        if let known = positions[name] { return known }
        let group = Group(name: name, bucket: policy.ratePerGroup.map(TokenBucket.init))
        let position = freePositions.popLast() ?? groups.count
        if position == groups.count { groups.append(group) } else { groups[position] = group }
        positions[name] = position
        return position
    }

    /// A group without effects is forgotten as soon as its bucket is as full as an untouched one.
    private mutating func retire(_ group: Int) {
        guard let bucket = groups[group].bucket, !bucket.isFresh, let begin else { return drop(group) }
        idle.push(GroupTime(time: bucket.fullAt(begin: begin), group: group))
        guard idle.isBloated(live: positions.count) else { return }
        let groups = groups
        idle.compact { groups[$0.group].name != nil && groups[$0.group].count == 0 }
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

    private func live(_ delay: Delay) -> Entry? { Self.live(delay, entries) }

    private static func live(_ delay: Delay, _ entries: HashTable<EffectID, Entry>) -> Entry? {
        guard let entry = entries[delay.ticket.id], entry.phase == .delayed, entry.ticket == delay.ticket.number
        else { return nil }
        return entry
    }

    private static func isLive(_ offer: Offer, _ groups: [Group]) -> Bool {
        groups[offer.group].standing == .offered(ticket: offer.ticket)
    }

    private func isLive(short item: GroupTime) -> Bool { Self.isLive(short: item, groups) }

    private static func isLive(short item: GroupTime, _ groups: [Group]) -> Bool {
        groups[item.group].standing == .short(until: item.time)
    }

    /// The place of an effect that still waits by this ticket.
    private static func place(ofQueued ticket: Ticket, _ entries: HashTable<EffectID, Entry>) -> Int? {
        guard let place = entries.find(ticket.id, ticket.id.mixed), entries[at: place].phase == .queued,
            entries[at: place].ticket == ticket.number
        else { return nil }
        return place
    }

    private static func isQueued(_ ticket: Ticket, _ entries: HashTable<EffectID, Entry>) -> Bool {
        place(ofQueued: ticket, entries) != nil
    }

    private mutating func cleanDelays() {
        while let top = delays.top, live(top) == nil { delays.pop() }
        guard delays.isBloated(live: delayedCount) else { return }
        let entries = entries
        delays.compact { Self.live($0, entries) != nil }
    }

    private mutating func cleanQueue(_ group: Int) {
        while let top = groups[group].queue.top, !Self.isQueued(top, entries) { groups[group].queue.pop() }
        compactQueue(group)
    }

    private mutating func compactQueue(_ group: Int) {
        guard groups[group].queue.isBloated(live: groups[group].queuedCount) else { return }
        let entries = entries
        groups[group].queue.compact { Self.isQueued($0, entries) }
    }

    private mutating func cleanGroups() {
        while let top = offers.top, !Self.isLive(top, groups) { offers.pop() }
        while let top = short.top, !isLive(short: top) { short.pop() }
        if offers.isBloated(live: positions.count) {
            let groups = groups
            offers.compact { Self.isLive($0, groups) }
        }
        if short.isBloated(live: positions.count) {
            let groups = groups
            short.compact { Self.isLive(short: $0, groups) }
        }
    }
}
