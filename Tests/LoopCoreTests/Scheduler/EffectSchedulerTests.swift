import LoopCore
import Testing

/// The scheduler of effects, example by example.
@Suite struct `Effect scheduling` {
    @Test func `effects of a feedback start in the order of their adding`() {
        var scheduler = EffectScheduler(policies: [:])
        for index in 0..<3 { scheduler.add(effect(0, index), group: nil) }
        #expect(drain(&scheduler) == [effect(0, 0), effect(0, 1), effect(0, 2)])
        #expect(scheduler.runningCount == 3)
        #expect(scheduler.waitingCount == 0)
    }

    @Test func `feedbacks take turns`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(), 1: EffectPolicy()])
        for index in 0..<2 { scheduler.add(effect(0, index), group: nil) }
        for index in 0..<2 { scheduler.add(effect(1, index), group: nil) }
        #expect(drain(&scheduler) == [effect(0, 0), effect(1, 0), effect(0, 1), effect(1, 1)])
    }

    @Test func `canPlace is asked once for each feedback, and only for one with something to start`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(), 1: EffectPolicy(), 2: EffectPolicy()])
        scheduler.add(effect(0, 0), group: nil)
        scheduler.add(effect(0, 1), group: nil)
        scheduler.add(effect(1, 0), group: nil)
        var asked: [UInt32] = []
        let found = scheduler.next(at: .zero) { feedback in
            asked.append(feedback)
            return false
        }
        #expect(found == nil)
        #expect(asked == [0, 1])
    }

    @Test func `a feedback runs no more at once than its concurrency`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrency: 2)])
        for index in 0..<3 { scheduler.add(effect(0, index), group: nil) }
        #expect(drain(&scheduler) == [effect(0, 0), effect(0, 1)])
        #expect(scheduler.deadline(after: .zero) == nil)
        scheduler.remove(effect(0, 0))
        #expect(drain(&scheduler) == [effect(0, 2)])
    }

    @Test func `a group at its limit does not hold up another`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrencyPerGroup: 1)])
        scheduler.add(effect(0, 0), group: "a")
        scheduler.add(effect(0, 1), group: "a")
        scheduler.add(effect(0, 2), group: "b")
        scheduler.add(effect(0, 3), group: nil)
        scheduler.add(effect(0, 4), group: nil)
        #expect(drain(&scheduler) == [effect(0, 0), effect(0, 2), effect(0, 3), effect(0, 4)])
        scheduler.remove(effect(0, 0))
        #expect(drain(&scheduler) == [effect(0, 1)])
    }

    @Test func `a requeued effect goes to the back and frees its place`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrency: 1)])
        scheduler.add(effect(0, 0), group: nil)
        scheduler.add(effect(0, 1), group: nil)
        #expect(drain(&scheduler) == [effect(0, 0)])
        scheduler.requeue(effect(0, 0), notBefore: nil)
        #expect(drain(&scheduler) == [effect(0, 1)])
        scheduler.remove(effect(0, 1))
        #expect(drain(&scheduler) == [effect(0, 0)])
    }

    @Test func `a delayed effect waits for its time, which is the deadline`() {
        var scheduler = EffectScheduler(policies: [:])
        scheduler.add(effect(0, 0), group: nil, notBefore: .zero + .seconds(3))
        #expect(drain(&scheduler) == [])
        #expect(scheduler.deadline(after: .zero) == .zero + .seconds(3))
        #expect(drain(&scheduler, at: .zero + .seconds(2)) == [])
        #expect(drain(&scheduler, at: .zero + .seconds(3)) == [effect(0, 0)])
        #expect(scheduler.deadline(after: .zero + .seconds(3)) == nil)
    }

    @Test func `the deadline of a removed effect is gone`() {
        var scheduler = EffectScheduler(policies: [:])
        scheduler.add(effect(0, 0), group: nil, notBefore: .zero + .seconds(3))
        scheduler.add(effect(0, 1), group: nil, notBefore: .zero + .seconds(5))
        scheduler.remove(effect(0, 0))
        #expect(scheduler.deadline(after: .zero) == .zero + .seconds(5))
    }

    @Test func `a rate begins with an empty bucket and fills up to its burst`() {
        let policy = EffectPolicy(rate: RateLimit(perSecond: 1, burst: 2))
        var scheduler = EffectScheduler(policies: [0: policy])
        for index in 0..<6 { scheduler.add(effect(0, index), group: nil) }
        let begin = MonotonicTime.zero + .seconds(100)
        #expect(drain(&scheduler, at: begin) == [])
        #expect(scheduler.deadline(after: begin) == begin + .seconds(1))
        #expect(drain(&scheduler, at: begin + .seconds(1)) == [effect(0, 0)])
        #expect(drain(&scheduler, at: begin + .seconds(10)) == [effect(0, 1), effect(0, 2)])
        #expect(scheduler.deadline(after: begin + .seconds(10)) == begin + .seconds(11))
    }

    @Test func `groups have buckets of their own`() {
        let policy = EffectPolicy(ratePerGroup: RateLimit(perSecond: 2))
        var scheduler = EffectScheduler(policies: [0: policy])
        for index in 0..<2 { scheduler.add(effect(0, index), group: "a") }
        for index in 2..<4 { scheduler.add(effect(0, index), group: "b") }
        #expect(drain(&scheduler) == [])
        #expect(scheduler.deadline(after: .zero) == .zero + .milliseconds(500))
        #expect(drain(&scheduler, at: .zero + .milliseconds(500)) == [effect(0, 0), effect(0, 2)])
        #expect(drain(&scheduler, at: .zero + .seconds(1)) == [effect(0, 1), effect(0, 3)])
    }

    @Test func `an idle group is forgotten once its bucket is full`() {
        let policy = EffectPolicy(concurrencyPerGroup: 1, ratePerGroup: RateLimit(perSecond: 1))
        var scheduler = EffectScheduler(policies: [0: policy])
        _ = drain(&scheduler)
        var now = MonotonicTime.zero
        for index in 0..<1000 {
            now = now + .seconds(1)
            scheduler.add(effect(0, index), group: "host\(index)")
            #expect(drain(&scheduler, at: now) == [effect(0, index)])
            scheduler.remove(effect(0, index))
            #expect(scheduler.groupCount <= 2)
        }
        #expect(drain(&scheduler, at: now + .seconds(1)) == [])
        #expect(scheduler.groupCount == 0)
    }

    @Test func `a group whose effects come and go while it waits for a token is noted once`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(ratePerGroup: RateLimit(perSecond: 0.001))])
        _ = drain(&scheduler)
        for (index, group) in ["a", "b"].enumerated() {
            scheduler.add(effect(0, index), group: group)
            #expect(drain(&scheduler, at: .zero + .seconds(1000 + index)) == [effect(0, index)])
            scheduler.remove(effect(0, index))
        }
        // The first in line stays there.
        scheduler.add(effect(0, 2), group: "a")
        for index in 3..<1000 {
            scheduler.add(effect(0, index), group: "b")
            scheduler.remove(effect(0, index))
            scheduler.add(effect(0, index), group: "new")
            scheduler.remove(effect(0, index))
        }
        #expect(scheduler.groupTimesCount < 50)
        #expect(scheduler.deadline(after: .zero + .seconds(1001)) == .zero + .seconds(2000))
        #expect(drain(&scheduler, at: .zero + .seconds(2000)) == [effect(0, 2)])
        scheduler.remove(effect(0, 2))
        #expect(drain(&scheduler, at: .zero + .seconds(9000)) == [])
        #expect(scheduler.groupCount == 0)
        #expect(scheduler.groupTimesCount == 0)
    }

    @Test func `an adopted effect counts against the limits, above them too`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrency: 1)])
        scheduler.adopt(effect(0, 0), group: nil)
        scheduler.adopt(effect(0, 1), group: nil)
        scheduler.add(effect(0, 2), group: nil)
        #expect(scheduler.runningCount == 2)
        scheduler.remove(effect(0, 0))
        #expect(drain(&scheduler) == [])
        scheduler.remove(effect(0, 1))
        #expect(drain(&scheduler) == [effect(0, 2)])
    }

    @Test func `a waiting effect that is adopted runs and is not started again`() {
        var scheduler = EffectScheduler(policies: [:])
        scheduler.add(effect(0, 0), group: nil)
        scheduler.adopt(effect(0, 0), group: nil)
        #expect(drain(&scheduler) == [])
        #expect(scheduler.runningCount == 1)
    }

    @Test func `unknown effects are ignored and known ones are not added twice`() {
        var scheduler = EffectScheduler(policies: [:])
        scheduler.remove(effect(7, 0))
        scheduler.requeue(effect(7, 0), notBefore: nil)
        scheduler.add(effect(0, 0), group: nil)
        scheduler.add(effect(0, 0), group: nil)
        #expect(drain(&scheduler) == [effect(0, 0)])
        scheduler.add(effect(0, 0), group: nil)
        #expect(drain(&scheduler) == [])
    }

    @Test func `a place where no effect can be is ignored`() {
        var scheduler = PlacedScheduler(policies: [:])
        scheduler.remove(at: 1000)
        scheduler.requeue(at: 1000, notBefore: nil)
        scheduler.remove(at: 7)
        #expect(scheduler.next(at: .zero) { _ in true } == nil)
    }

    @Test func `twenty thousand effects in half as many groups start and end`() {
        let policy = EffectPolicy(concurrency: 64, concurrencyPerGroup: 1)
        var scheduler = EffectScheduler(policies: [0: policy])
        let count = 20_000
        for index in 0..<count { scheduler.add(effect(0, index), group: "\(index / 2)") }
        var started = 0
        while true {
            let ids = drain(&scheduler)
            if ids.isEmpty { break }
            started += ids.count
            for id in ids { scheduler.remove(id) }
        }
        #expect(started == count)
        #expect(scheduler.groupCount == 0)
    }

    private func effect(_ feedback: UInt32, _ index: Int) -> EffectID {
        EffectID(feedback: feedback, seq: Seq(1), index: UInt32(index))
    }

    private func drain(_ scheduler: inout EffectScheduler, at now: MonotonicTime = .zero) -> [EffectID] {
        var ids: [EffectID] = []
        while let id = scheduler.next(at: now, where: { _ in true }) { ids.append(id) }
        return ids
    }
}

/// What is said of an effect that does not start.
@Suite struct `A scheduler's obstacle` {
    private func start(_ scheduler: inout PlacedScheduler, at time: MonotonicTime) {
        while scheduler.next(at: time, where: { _ in true }) != nil {}
    }

    @Test func `is a limit of the feedback or of the group, a rate or a delay`() {
        let second = MonotonicTime.zero + .seconds(1)
        var scheduler = PlacedScheduler(policies: [
            0: EffectPolicy(concurrency: 1), 1: EffectPolicy(concurrencyPerGroup: 1),
            2: EffectPolicy(rate: RateLimit(perSecond: 1)),
            3: EffectPolicy(ratePerGroup: RateLimit(perSecond: 1)), 4: EffectPolicy(),
        ])
        for place in 0..<10 {
            scheduler.add(
                at: place, of: UInt32(place / 2), group: "g", notBefore: place == 9 ? second + .seconds(9) : nil)
        }
        start(&scheduler, at: .zero)
        start(&scheduler, at: second)
        let expected: [SchedulerObstacle?] = [
            nil, .concurrency(1), nil, .groupConcurrency("g", 1), nil, .rate(until: second + .seconds(1)), nil,
            .groupRate("g", until: second + .seconds(1)), nil, .delay,
        ]
        #expect((0..<10).map { scheduler.obstacle(at: $0, second) } == expected)
        #expect(scheduler.obstacle(at: 99, second) == nil)
    }
}
