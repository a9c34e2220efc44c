import LoopCore
import Testing

/// Which of the waiting effects of a feedback starts next.
@Suite struct `Priority and shares` {
    private let start = MonotonicTime.zero + .seconds(100)

    @Test func `an effect of a greater priority starts first, and equals in the order of their coming`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(priorityStep: .seconds(60))])
        _ = scheduler.next(at: start) { _ in true }
        for (index, priority) in [0, 2, 1, 2, -1].enumerated() {
            scheduler.add(effect(index), group: nil, priority: Int32(priority))
        }
        #expect(drain(&scheduler, at: start) == [1, 3, 2, 0, 4])
    }

    @Test func `one step of priority counts like its time of waiting, so that none waits for ever`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrency: 1, priorityStep: .seconds(60))])
        _ = scheduler.next(at: start) { _ in true }
        scheduler.add(effect(0), group: nil, priority: 0)
        // Each second an urgent one comes, and one is done.
        var index = 0
        var waited = 0
        while true {
            index += 1
            scheduler.add(effect(index), group: nil, priority: 1)
            let next = drain(&scheduler, at: start + .seconds(waited))
            if next == [0] { break }
            scheduler.remove(effect(next[0]))
            waited += 1
            if waited > 100 { break }
        }
        #expect(waited == 61)
    }

    @Test func `the priority of a waiting effect can change, and what it has waited still counts`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrency: 1, priorityStep: .seconds(60))])
        _ = scheduler.next(at: start) { _ in true }
        scheduler.add(effect(0), group: nil, priority: 0)
        _ = scheduler.next(at: start + .seconds(30)) { _ in false }
        scheduler.add(effect(1), group: nil, priority: 1)
        scheduler.add(effect(2), group: nil, priority: 2)
        scheduler.prioritize(effect(0), 2)
        scheduler.prioritize(effect(2), 0)
        scheduler.prioritize(effect(9), 7)
        var order: [Int] = []
        while let next = drain(&scheduler, at: start + .seconds(30)).first {
            order.append(next)
            scheduler.remove(effect(next))
        }
        #expect(order == [0, 1, 2])
        #expect(scheduler.waitingCount == 0)
    }

    @Test func `a delayed effect has its priority when its time comes, also one that has changed meanwhile`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(priorityStep: .seconds(60))])
        _ = scheduler.next(at: start) { _ in true }
        scheduler.add(effect(0), group: nil, priority: 0)
        scheduler.add(effect(1), group: nil, priority: 0, notBefore: start + .seconds(1))
        scheduler.prioritize(effect(1), 5)
        #expect(scheduler.next(at: start + .seconds(1)) { _ in true } == effect(1))
    }

    @Test func `groups with fair shares run equally many, whichever has more to do`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrency: 4, isFair: true)])
        for index in 0..<100 { scheduler.add(effect(index), group: "large") }
        for index in 100..<102 { scheduler.add(effect(index), group: "small") }
        #expect(drain(&scheduler, at: start) == [0, 100, 1, 101])
        scheduler.remove(effect(0))
        scheduler.add(effect(200), group: "new")
        #expect(drain(&scheduler, at: start) == [200])
        scheduler.remove(effect(101))
        #expect(drain(&scheduler, at: start) == [2])
    }

    @Test func `groups with fair shares start in turn where effects are short`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrency: 1, isFair: true)])
        for index in 0..<6 { scheduler.add(effect(index), group: "a") }
        for index in 10..<12 { scheduler.add(effect(index), group: "b") }
        for index in 20..<22 { scheduler.add(effect(index), group: "c") }
        var order: [Int] = []
        while let next = drain(&scheduler, at: start).first {
            order.append(next)
            scheduler.remove(effect(next))
        }
        #expect(order == [0, 10, 20, 1, 11, 21, 2, 3, 4, 5])
    }

    @Test func `a group that has one effect at a time gets its turn, and no more`() {
        var scheduler = EffectScheduler(policies: [0: EffectPolicy(concurrency: 1, isFair: true)])
        for index in 0..<9 { scheduler.add(effect(index), group: ["a", "b", "c"][index % 3]) }
        var order: [Int] = []
        var quick = 100
        scheduler.add(effect(quick), group: "quick")
        for _ in 0..<12 {
            let next = drain(&scheduler, at: start)[0]
            order.append(next)
            scheduler.remove(effect(next))
            if next == quick {
                quick += 1
                scheduler.add(effect(quick), group: "quick")
            }
        }
        #expect(order == [0, 1, 2, 100, 3, 4, 5, 101, 6, 7, 8, 102])
    }

    @Test func `priority orders the effects of each group with a share`() {
        let policy = EffectPolicy(concurrency: 1, isFair: true, priorityStep: .seconds(60))
        var scheduler = EffectScheduler(policies: [0: policy])
        _ = scheduler.next(at: start) { _ in true }
        scheduler.add(effect(0), group: "a", priority: 0)
        scheduler.add(effect(1), group: "a", priority: 9)
        scheduler.add(effect(2), group: "b", priority: 0)
        scheduler.add(effect(3), group: "b", priority: 1)
        var order: [Int] = []
        while let next = drain(&scheduler, at: start).first {
            order.append(next)
            scheduler.remove(effect(next))
        }
        #expect(order == [1, 3, 0, 2])
    }

    private func effect(_ index: Int) -> EffectID { EffectID(feedback: 0, seq: Seq(1), index: UInt32(index)) }

    private func drain(_ scheduler: inout EffectScheduler, at now: MonotonicTime) -> [Int] {
        var found: [Int] = []
        while let id = scheduler.next(at: now, where: { _ in true }) { found.append(Int(id.index)) }
        return found
    }
}
