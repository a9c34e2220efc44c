import LoopCore
import Testing

/// The scheduler against a reference that looks at everything every time.
@Suite struct `Effect scheduling against its model` {
    @Test(arguments: 1...60) func `a random history gives the same starts and deadlines`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let policies = randomPolicies(&random)
        var scheduler = EffectScheduler(policies: policies)
        var model = SchedulerModel(policies: policies)
        var now = MonotonicTime(nanoseconds: 1_000_000)
        for step in 0..<400 {
            now = now + .milliseconds(Int.random(in: 0...40, using: &random))
            let id = EffectID(
                feedback: UInt32.random(in: 0..<3, using: &random), seq: Seq(1),
                index: UInt32.random(in: 0..<40, using: &random))
            let group = [nil, "a", "b", "c"].randomElement(using: &random) ?? nil
            let later = Bool.random(using: &random) ? nil : now + .milliseconds(Int.random(in: 0...90, using: &random))
            let priority = Int32.random(in: -2...2, using: &random)
            switch Int.random(in: 0..<11, using: &random) {
            case 0..<5:
                scheduler.add(id, group: group, priority: priority, notBefore: later)
                model.add(id, group: group, priority: priority, notBefore: later)
            case 10:
                scheduler.prioritize(id, priority)
                model.prioritize(id, priority)
            case 5, 6:
                scheduler.remove(id)
                model.remove(id)
            case 7, 8:
                scheduler.requeue(id, notBefore: later)
                model.requeue(id, notBefore: later)
            default:
                scheduler.adopt(id, group: group, priority: priority)
                model.adopt(id, group: group, priority: priority)
            }
            let open = UInt32.random(in: 0..<8, using: &random)
            while true {
                let found = scheduler.next(at: now) { open & (1 << $0) != 0 }
                let expected = model.next(at: now) { open & (1 << $0) != 0 }
                #expect(found == expected, "seed \(seed), step \(step)")
                if found != expected { return }
                if found == nil { break }
            }
            #expect(scheduler.runningCount == model.effects.count { $0.isRunning })
            #expect(scheduler.waitingCount == model.effects.count { !$0.isRunning })
            checkDeadline(scheduler, model, now: now, open: open, step: step)
        }
    }

    /// Nothing starts before the deadline, and something does at the deadline or another one follows it.
    private func checkDeadline(
        _ scheduler: EffectScheduler, _ model: SchedulerModel, now: MonotonicTime, open: UInt32, step: Int
    ) {
        var scheduler = scheduler
        var model = model
        var time = now
        for _ in 0..<50 {
            guard let deadline = scheduler.deadline(after: time) else {
                #expect(model.next(at: time + .seconds(1000)) { open & (1 << $0) != 0 } == nil, "step \(step)")
                return
            }
            #expect(deadline > time, "step \(step)")
            var early = model
            #expect(early.next(at: deadline - .nanoseconds(1)) { open & (1 << $0) != 0 } == nil, "step \(step)")
            let found = scheduler.next(at: deadline) { open & (1 << $0) != 0 }
            #expect(found == model.next(at: deadline) { open & (1 << $0) != 0 }, "step \(step)")
            if found != nil { return }
            time = deadline
        }
        Issue.record("no end of deadlines at step \(step)")
    }

    private func randomPolicies(_ random: inout SeededRandom) -> [UInt32: EffectPolicy] {
        var policies: [UInt32: EffectPolicy] = [:]
        for feedback in 0..<UInt32(3) {
            policies[feedback] = EffectPolicy(
                concurrency: [nil, 1, 5].randomElement(using: &random) ?? nil,
                concurrencyPerGroup: [nil, 1, 2].randomElement(using: &random) ?? nil,
                rate: [nil, RateLimit(perSecond: 20, burst: 3)].randomElement(using: &random) ?? nil,
                ratePerGroup: [nil, RateLimit(perSecond: 7, burst: 2)].randomElement(using: &random) ?? nil,
                isFair: Bool.random(using: &random),
                priorityStep: [nil, .milliseconds(200)].randomElement(using: &random) ?? nil)
        }
        return policies
    }
}

/// The rules of `PlacedScheduler`, written down without any regard for cost.
private struct SchedulerModel {
    struct Effect {
        var id: EffectID
        var group: String?
        var notBefore: MonotonicTime?
        var order: Int
        var isRunning: Bool
        var priority: Int32
        /// When it came, as the scheduler saw time then.
        var came: MonotonicTime
    }

    /// A bucket that is filled at every look.
    struct Level {
        var nanoseconds: UInt64 = 0
        var lookedAt: MonotonicTime
    }

    let policies: [UInt32: EffectPolicy]
    var effects: [Effect] = []
    private var order = 0
    private var turn: UInt32 = 0
    private var begin: MonotonicTime?
    /// The time of the last `next`.
    private var clock = MonotonicTime.zero
    /// How many each feedback has started, and when each group was served last, by that count.
    private var starts: [UInt32: Int] = [:]
    private var served: [String: Int] = [:]
    private var levels: [String: Level] = [:]

    init(policies: [UInt32: EffectPolicy]) { self.policies = policies }

    mutating func add(_ id: EffectID, group: String?, priority: Int32, notBefore: MonotonicTime?) {
        if effects.contains(where: { $0.id == id }) { return }
        order += 1
        // A group that had nothing stands behind all that wait.
        let name = name(id.feedback, group)
        if !effects.contains(where: { self.name($0.id.feedback, $0.group) == name }) {
            served[name] = starts[id.feedback] ?? 0
        }
        effects.append(
            Effect(
                id: id, group: group, notBefore: notBefore, order: order, isRunning: false, priority: priority,
                came: clock))
    }

    private func name(_ feedback: UInt32, _ group: String?) -> String { "\(feedback) \(group ?? "-")" }

    mutating func remove(_ id: EffectID) { effects.removeAll { $0.id == id } }

    mutating func prioritize(_ id: EffectID, _ priority: Int32) {
        guard let index = effects.firstIndex(where: { $0.id == id }), effects[index].priority != priority else {
            return
        }
        effects[index].priority = priority
        guard policies[id.feedback]?.priorityStep != nil, !effects[index].isRunning,
            effects[index].notBefore.map({ $0 <= clock }) ?? true
        else { return }
        // Of those of the same rank it is the newest.
        order += 1
        effects[index].order = order
    }

    mutating func requeue(_ id: EffectID, notBefore: MonotonicTime?) {
        guard let known = effects.first(where: { $0.id == id }) else { return }
        let served = served
        remove(id)
        add(id, group: known.group, priority: known.priority, notBefore: notBefore)
        self.served = served
    }

    mutating func adopt(_ id: EffectID, group: String?, priority: Int32) {
        let known = effects.first { $0.id == id }
        if known?.isRunning ?? false { return }
        let served = served
        remove(id)
        add(id, group: known.map(\.group) ?? group, priority: priority, notBefore: nil)
        if known != nil { self.served = served }
        let last = effects.count - 1
        effects[last].isRunning = true
    }

    mutating func next(at now: MonotonicTime, where canPlace: (UInt32) -> Bool) -> EffectID? {
        if begin == nil { begin = now }
        clock = max(clock, now)
        for step in 0..<UInt32(3) {
            let feedback = (turn + step) % 3
            guard canPlace(feedback), let index = startable(feedback, now) else { continue }
            effects[index].isRunning = true
            take(feedback, effects[index].group, now)
            starts[feedback, default: 0] += 1
            served[name(feedback, effects[index].group)] = starts[feedback]
            turn = (feedback + 1) % 3
            return effects[index].id
        }
        return nil
    }

    private mutating func startable(_ feedback: UInt32, _ now: MonotonicTime) -> Int? {
        guard let policy = policies[feedback] else { return nil }
        let running = effects.filter { $0.id.feedback == feedback && $0.isRunning }
        if let limit = policy.concurrency, running.count >= limit { return nil }
        if let rate = policy.rate, !hasToken("\(feedback)", rate, now) { return nil }
        let candidates = effects.indices.filter { index in
            effects[index].id.feedback == feedback && !effects[index].isRunning
                && effects[index].notBefore.map { $0 <= now } ?? true
        }
        for index in candidates.sorted(by: { isBefore(effects[$0], effects[$1], policy, running) }) {
            guard let group = effects[index].group else { return index }
            if let limit = policy.concurrencyPerGroup, running.count(where: { $0.group == group }) >= limit { continue }
            if let rate = policy.ratePerGroup, !hasToken("\(feedback) \(group)", rate, now) { continue }
            return index
        }
        return nil
    }

    /// Whether an effect starts before another one of its feedback, if limits let both start.
    private func isBefore(_ a: Effect, _ b: Effect, _ policy: EffectPolicy, _ running: [Effect]) -> Bool {
        if policy.isFair, a.group != b.group {
            let (first, second) = (running.count { $0.group == a.group }, running.count { $0.group == b.group })
            if first != second { return first < second }
            let (early, late) = (served[name(a.id.feedback, a.group)] ?? 0, served[name(b.id.feedback, b.group)] ?? 0)
            if early != late { return early < late }
        }
        if let step = policy.priorityStep {
            let lead = { (one: Effect) in Int64(one.priority) * step.wholeNanoseconds }
            let (first, second) = (
                Int64(a.came.nanoseconds) - lead(a), Int64(b.came.nanoseconds) - lead(b)
            )
            if first != second { return first < second }
        }
        return a.order < b.order
    }

    private func interval(_ rate: RateLimit) -> UInt64 {
        UInt64((1_000_000_000 + Int(rate.perSecond) - 1) / Int(rate.perSecond))
    }

    private mutating func hasToken(_ bucket: String, _ rate: RateLimit, _ now: MonotonicTime) -> Bool {
        var level = levels[bucket] ?? Level(lookedAt: begin ?? now)
        let gained = now.nanoseconds - min(now.nanoseconds, level.lookedAt.nanoseconds)
        level.nanoseconds = min(interval(rate) * UInt64(rate.burst), level.nanoseconds + gained)
        level.lookedAt = max(now, level.lookedAt)
        levels[bucket] = level
        return level.nanoseconds >= interval(rate)
    }

    private mutating func take(_ feedback: UInt32, _ group: String?, _ now: MonotonicTime) {
        if let rate = policies[feedback]?.rate {
            let cost = interval(rate)
            levels["\(feedback)"]?.nanoseconds -= cost
        }
        if let group, let rate = policies[feedback]?.ratePerGroup {
            _ = hasToken("\(feedback) \(group)", rate, now)
            let cost = interval(rate)
            levels["\(feedback) \(group)"]?.nanoseconds -= cost
        }
    }
}
