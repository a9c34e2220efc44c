import LoopCore
import Testing

@Suite struct `A queue of timers` {
    private func id(_ number: UInt64) -> EffectID { EffectID(feedback: 1, seq: Seq(number), index: 0) }

    private func at(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

    private func drain(_ queue: TimerQueue) -> [String] {
        var queue = queue
        var order: [String] = []
        while let first = queue.first {
            order.append("\(first.id.seq)@\(first.time.milliseconds)")
            queue.clear(first.id)
        }
        return order
    }

    @Test func `is in the order of times, and at one time in that of effects`() {
        var queue = TimerQueue()
        queue.set(id(3), to: at(20))
        queue.set(id(2), to: at(30))
        queue.set(id(1), to: at(20))
        queue.set(id(4), to: at(-5))
        #expect(drain(queue) == ["4@-5", "1@20", "3@20", "2@30"])
        #expect(queue.count == 4)
    }

    @Test func `knows a timer that was moved at its new time alone`() {
        var queue = TimerQueue()
        queue.set(id(1), to: at(10))
        queue.set(id(2), to: at(20))
        queue.set(id(1), to: at(30))
        #expect(drain(queue) == ["2@20", "1@30"])
        queue.set(id(1), to: at(10))
        #expect(drain(queue) == ["1@10", "2@20"])
    }

    @Test func `is as a sorted list would be, whatever is set, moved and cleared`() {
        var random = SeededRandom(seed: 7)
        var queue = TimerQueue()
        var model: [EffectID: WallTime] = [:]
        for _ in 0..<20_000 {
            let id = id(UInt64.random(in: 0..<300, using: &random))
            if Int.random(in: 0..<3, using: &random) == 0 {
                queue.clear(id)
                model[id] = nil
            } else {
                let time = at(Int64.random(in: 0..<100, using: &random))
                queue.set(id, to: time)
                model[id] = time
            }
            let first = model.min { ($0.value, $0.key) < ($1.value, $1.key) }
            #expect(queue.first?.id == first?.key && queue.first?.time == first?.value && queue.count == model.count)
        }
    }
}
