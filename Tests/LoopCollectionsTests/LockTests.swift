import Glibc
import LoopCollections
import Testing

@Suite struct `locks` {
    @Test func `one thread at a time changes the value`() async {
        let count = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<1000 { count.withLock { $0 += 1 } } } }
        }
        #expect(count.withLock { $0 } == 8000)
    }

    @Test func `an error leaves the lock open and keeps its type`() {
        struct Refused: Error, Equatable {}
        let value = Locked([1])
        #expect(throws: Refused()) {
            try value.withLock { (value) throws(Refused) in
                value.append(2)
                throw Refused()
            }
        }
        #expect(value.withLock { $0 } == [1, 2])
    }

    @Test func `the value goes with its last lock`() {
        final class Owned {}
        weak var owned: Owned?
        do {
            let lock = Locked(Owned())
            owned = lock.withLock { Optional($0) }
            #expect(owned != nil)
        }
        #expect(owned == nil)
    }

    @Test func `a thread that takes a lock twice stops the process`() async {
        await #expect(processExitsWith: .failure) {
            let lock = Locked(0)
            lock.withLock { _ in lock.withLock { $0 += 1 } }
        }
    }
}

@Suite struct `monitors` {
    @Test func `a waiting thread goes on when its predicate holds`() async {
        let inbox = Monitor([Int]())
        let taken = Locked([Int]())
        await withTaskGroup { group in
            group.addTask {
                for _ in 0..<100 {
                    let number = inbox.wait(until: { !$0.isEmpty }) { $0.removeFirst() }
                    taken.withLock { $0.append(number) }
                }
            }
            for number in 0..<100 {
                inbox.withLock { $0.append(number) }
                inbox.signal()
            }
        }
        #expect(taken.withLock { $0 } == Array(0..<100))
    }

    @Test func `a wait ends when its time is up, and says so`() {
        let monitor = Monitor(false)
        let started = ContinuousClock.now
        #expect(!monitor.wait(until: { $0 }, timeout: .milliseconds(20)))
        #expect(ContinuousClock.now - started >= .milliseconds(20))
        monitor.withLock { $0 = true }
        #expect(monitor.wait(until: { $0 }, timeout: .zero))
        let both = monitor.wait(until: { $0 }, timeout: .seconds(-1), then: { value, holds in value && holds })
        #expect(both)
    }
}

@Suite struct `background work` {
    /// Computes for some milliseconds, and says how often the thread has slept meanwhile.
    private func sleepsWhileComputing() -> Int {
        func sleeps() -> Int {
            var usage = rusage()
            let thisThread: Int32 = 1
            getrusage(thisThread, &usage)
            return usage.ru_nvcsw
        }
        let (before, ends) = (sleeps(), ContinuousClock.now + .milliseconds(5))
        while ContinuousClock.now < ends { BackgroundWork.giveWay() }
        return sleeps() - before
    }

    @Test func `gives way, and other work does not`() {
        #expect(BackgroundWork.run { sleepsWhileComputing() } > 0)
        #expect(sleepsWhileComputing() == 0)
    }

    @Test(arguments: [0, 1, 5000, 1 << 20, 3 << 20 + 1])
    func `forgets bytes, and no copy of them`(count: Int) {
        var bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let copy = bytes
        BackgroundWork.discard(&bytes)
        #expect(bytes.isEmpty)
        #expect(copy == (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        var alone = [UInt8](repeating: 3, count: count)
        BackgroundWork.run { BackgroundWork.discard(&alone) }
        #expect(alone.isEmpty)
    }

    @Test func `goes through all bytes in their order`() {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var (seen, steps): ([UInt8], Int) = ([], 0)
        BackgroundWork.steps(bytes.span) { step in
            for place in step.indices { seen.append(step[place]) }
            steps += 1
        }
        #expect(seen == bytes)
        #expect(steps > 1)
        var counts: [Int] = []
        BackgroundWork.steps([UInt8]().span) { counts.append($0.count) }
        #expect(counts == [0])
    }
}
