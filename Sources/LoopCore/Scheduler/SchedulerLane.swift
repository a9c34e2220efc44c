/// The waiting and running effects of one feedback, within the feedback's limits.
///
///     add ──▶ delayed ──time──▶ queued in its group ──▶ running ──▶ gone
///                ▲                  group: idle, full, short of tokens, or offered with its oldest effect
///                └──────────────────── requeue ────────────┘
///
/// The offered groups stand in a heap by their oldest effect, so that a group at its limit costs nothing and blocks
/// nobody. Heaps are cleaned lazily: an item counts only while the entry or the group still names it.
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
        var group: String?
        var ticket: UInt64
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
        var queue = BinaryHeap<Ticket>()
        var queuedCount = 0
        var runningCount = 0
        var bucket: TokenBucket?
        var standing = Standing.idle
    }

    private struct Ticket: Comparable {
        var number: UInt64
        var id: EffectID
        static func < (a: Ticket, b: Ticket) -> Bool { a.number < b.number }
    }

    private struct Offer: Comparable {
        var ticket: UInt64
        var group: String?
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
        var group: String?
        static func < (a: GroupTime, b: GroupTime) -> Bool { a.time < b.time }
    }

    private let policy: EffectPolicy
    private let isGrouped: Bool
    private var entries: [EffectID: Entry] = [:]
    private var groups: [String?: Group] = [:]
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
        bucket = policy.rate.map(TokenBucket.init)
    }

    var waitingCount: Int { entries.count - runningCount }

    /// The number of groups that are remembered.
    var groupCount: Int { groups.count }

    // MARK: Life of an effect

    mutating func add(_ id: EffectID, group: String?, notBefore: MonotonicTime?, ticket: UInt64) {
        guard entries[id] == nil else { return }
        let group = isGrouped ? group : nil
        entries[id] = Entry(group: group, ticket: ticket, phase: .delayed)
        wait(Ticket(number: ticket, id: id), group: group, notBefore: notBefore)
    }

    mutating func requeue(_ id: EffectID, notBefore: MonotonicTime?, ticket: UInt64) {
        guard let entry = entries[id] else { return }
        // A known effect keeps its group while it changes its place.
        remove(id)
        add(id, group: entry.group, notBefore: notBefore, ticket: ticket)
    }

    mutating func adopt(_ id: EffectID, group: String?, ticket: UInt64) {
        let known = entries[id]
        if let known, known.phase == .running { return }
        remove(id)
        let group = known.map(\.group) ?? (isGrouped ? group : nil)
        entries[id] = Entry(group: group, ticket: ticket, phase: .running)
        runningCount += 1
        let fresh = newGroup(group)
        groups[group, default: fresh].runningCount += 1
        review(group)
    }

    mutating func remove(_ id: EffectID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        switch entry.phase {
        case .delayed:
            delayedCount -= 1
            cleanDelays()
        case .queued:
            groups[entry.group]?.queuedCount -= 1
            review(entry.group)
        case .running:
            runningCount -= 1
            groups[entry.group]?.runningCount -= 1
            review(entry.group)
        }
    }

    /// Starts the oldest effect that its limits let start now.
    mutating func start(at now: MonotonicTime) -> EffectID? {
        guard isOpen(at: now), let begin, let offer = offers.top,
            let ticket = groups[offer.group]?.queue.pop()
        else { return nil }
        entries[ticket.id]?.phase = .running
        runningCount += 1
        bucket?.take(at: now, begin: begin)
        groups[offer.group]?.queuedCount -= 1
        groups[offer.group]?.runningCount += 1
        groups[offer.group]?.bucket?.take(at: now, begin: begin)
        review(offer.group)
        return ticket.id
    }

    /// Whether `start` would find an effect.
    func canStart(at now: MonotonicTime) -> Bool { offers.top != nil && isOpen(at: now) }

    // MARK: Time

    /// Lets what waited for time take its place.
    mutating func advance(to now: MonotonicTime) {
        if begin == nil { begin = now }
        clock = max(clock, now)
        while let delay = delays.top, delay.until <= clock {
            delays.pop()
            if let entry = live(delay) {
                delayedCount -= 1
                enqueue(delay.ticket, group: entry.group)
            }
        }
        while let item = short.top, item.time <= clock {
            short.pop()
            if isLive(short: item) {
                groups[item.group]?.standing = .idle
                review(item.group)
            }
        }
        while let item = idle.top, item.time <= clock {
            idle.pop()
            forget(item.group)
        }
        // What is dead must not stand on top: the deadline would be that of nobody.
        cleanDelays()
        cleanGroups()
    }

    /// When something that waits for time alone may start.
    func deadline(after now: MonotonicTime) -> MonotonicTime? {
        guard hasRoom else { return nil }
        let open = begin.flatMap { begin in bucket?.readyAt(begin: begin) } ?? now
        var earliest: MonotonicTime?
        if offers.top != nil {
            // Limits let it start: it waits for a place, unless the feedback's bucket is empty.
            if open > now { return open }
        }
        if let delay = delays.top { earliest = delay.until }
        if let item = short.top { earliest = min(earliest ?? item.time, item.time) }
        return earliest.map { max($0, open, now) }
    }

    // MARK: Places

    private var hasRoom: Bool { policy.concurrency.map { runningCount < $0 } ?? true }

    private func isOpen(at now: MonotonicTime) -> Bool {
        guard hasRoom, let begin else { return false }
        return bucket.map { $0.readyAt(begin: begin) <= now } ?? true
    }

    private mutating func wait(_ ticket: Ticket, group: String?, notBefore: MonotonicTime?) {
        guard let notBefore, notBefore > clock else { return enqueue(ticket, group: group) }
        delayedCount += 1
        delays.push(Delay(until: notBefore, ticket: ticket))
    }

    private mutating func enqueue(_ ticket: Ticket, group: String?) {
        entries[ticket.id]?.phase = .queued
        let fresh = newGroup(group)
        groups[group, default: fresh].queue.push(ticket)
        groups[group]?.queuedCount += 1
        review(group)
    }

    private func newGroup(_ name: String?) -> Group {
        Group(bucket: name == nil ? nil : policy.ratePerGroup.map(TokenBucket.init))
    }

    /// Finds out where a group stands after anything about it has changed.
    private mutating func review(_ name: String?) {
        cleanQueue(name)
        guard let group = groups[name] else { return }
        let standing = standing(of: group, named: name)
        if standing != group.standing {
            groups[name]?.standing = standing
            switch standing {
            case .offered(let ticket): offers.push(Offer(ticket: ticket, group: name))
            case .short(let until): short.push(GroupTime(time: until, group: name))
            case .idle, .full: break
            }
        }
        if group.queuedCount == 0, group.runningCount == 0 { retire(name, group) }
        cleanGroups()
    }

    private func standing(of group: Group, named name: String?) -> Standing {
        guard group.queuedCount > 0, let oldest = group.queue.top else { return .idle }
        if name != nil, let limit = policy.concurrencyPerGroup, group.runningCount >= limit { return .full }
        if let bucket = group.bucket {
            // Before the scheduler began no bucket has a token; the first `advance` looks again.
            guard let begin else { return .short(until: .zero) }
            let ready = bucket.readyAt(begin: begin)
            if ready > clock { return .short(until: ready) }
        }
        return .offered(ticket: oldest.number)
    }

    // MARK: Forgetting

    /// A group without effects is forgotten as soon as its bucket is as full as an untouched one.
    private mutating func retire(_ name: String?, _ group: Group) {
        guard let bucket = group.bucket, !bucket.isFresh, let begin else {
            groups[name] = nil
            return
        }
        idle.push(GroupTime(time: bucket.fullAt(begin: begin), group: name))
        guard idle.isBloated(live: groups.count) else { return }
        let lane = self
        idle.compact { lane.isIdle(lane.groups[$0.group]) }
    }

    private mutating func forget(_ name: String?) {
        guard let begin, let group = groups[name], isIdle(group) else { return }
        if group.bucket.map({ $0.fullAt(begin: begin) <= clock }) ?? true { groups[name] = nil }
    }

    private func isIdle(_ group: Group?) -> Bool {
        group.map { $0.queuedCount == 0 && $0.runningCount == 0 } ?? false
    }

    private func live(_ delay: Delay) -> Entry? {
        guard let entry = entries[delay.ticket.id], entry.phase == .delayed, entry.ticket == delay.ticket.number
        else { return nil }
        return entry
    }

    private func isLive(_ offer: Offer) -> Bool {
        groups[offer.group]?.standing == .offered(ticket: offer.ticket)
    }

    private func isLive(short item: GroupTime) -> Bool {
        groups[item.group]?.standing == .short(until: item.time)
    }

    private func isQueued(_ ticket: Ticket) -> Bool {
        guard let entry = entries[ticket.id] else { return false }
        return entry.phase == .queued && entry.ticket == ticket.number
    }

    private mutating func cleanDelays() {
        while let top = delays.top, live(top) == nil { delays.pop() }
        guard delays.isBloated(live: delayedCount) else { return }
        let lane = self
        delays.compact { lane.live($0) != nil }
    }

    private mutating func cleanQueue(_ name: String?) {
        while let top = groups[name]?.queue.top, !isQueued(top) { groups[name]?.queue.pop() }
        guard let group = groups[name], group.queue.isBloated(live: group.queuedCount) else { return }
        let lane = self
        groups[name]?.queue.compact { lane.isQueued($0) }
    }

    private mutating func cleanGroups() {
        while let top = offers.top, !isLive(top) { offers.pop() }
        while let top = short.top, !isLive(short: top) { short.pop() }
        if offers.isBloated(live: groups.count) {
            let lane = self
            offers.compact { lane.isLive($0) }
        }
        if short.isBloated(live: groups.count) {
            let lane = self
            short.compact { lane.isLive(short: $0) }
        }
    }
}
