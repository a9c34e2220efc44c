import CReference
import Foundation
import LoopCore

/// A loop in this process, and beside it a state under a lock that is reduced in place.
enum InProcessRole {
    static func run(_ role: Role) throws {
        switch try role.text("work") {
        case "send": try send(role)
        case "threads": try sendFromThreads(role)
        case "make": try make(role)
        case let work: throw BenchmarkError.usage("there is no such work in process: \(work)")
        }
    }

    private static func loop(_ feedbacks: Int) -> Loop<CountingState, UInt64> {
        let feedbacks = (0..<feedbacks).map { number in
            Feedback<CountingState, UInt64>.react("idle \(number)", request: { _ in Int?.none }) { _ in .none }
        }
        return Loop(
            initial: CountingState(), reducer: { (state: inout CountingState, event: UInt64) in state.apply(event) },
            feedbacks: feedbacks)
    }

    // MARK: One thread

    private static func send(_ role: Role) throws {
        let count = try role.number("count")
        if try role.text("kind") == "lock" {
            let locked = PlainLocked(CountingState())
            let seconds = time(count) { number in locked.withLock { $0.apply(number) } }
            try locked.withLock { $0 }.check(UInt64(count + count / 10))
            Role.say("seconds", seconds)
        } else {
            let loop = loop(try role.number("feedbacks"))
            let seconds = time(count) { loop.send($0) }
            try loop.state.check(UInt64(count + count / 10))
            Role.say("seconds", seconds)
        }
    }

    /// Calls `body` `count` times, after a tenth of that to warm up.
    /// - Returns: the processor seconds of the measured calls.
    @inline(__always)
    private static func time(_ count: Int, _ body: (UInt64) -> Void) -> Double {
        let warmUp = count / 10
        for number in 1...warmUp { body(UInt64(number)) }
        let began = ProcessorTime.seconds
        for number in (warmUp + 1)...(warmUp + count) { body(UInt64(number)) }
        return ProcessorTime.seconds - began
    }

    // MARK: Many threads

    private static func sendFromThreads(_ role: Role) throws {
        let count = try role.number("count")
        let threads = SenderCounts.sendersCount
        if try role.text("kind") == "lock" {
            let locked = PlainLocked(SenderCounts())
            let seconds = time(threads, count) { event in locked.withLock { $0.apply(event) } }
            try locked.withLock { $0 }.check(UInt64(count))
            Role.say("seconds", seconds)
        } else {
            let loop = Loop(
                initial: SenderCounts(), reducer: { (state: inout SenderCounts, event: UInt64) in state.apply(event) })
            let seconds = time(threads, count) { loop.send($0) }
            try loop.state.check(UInt64(count))
            Role.say("seconds", seconds)
        }
    }

    /// Seconds from the first thread's start to the end of all.
    @inline(__always)
    private static func time(_ threads: Int, _ count: Int, _ body: @escaping @Sendable (UInt64) -> Void) -> Double {
        let began = ContinuousClock.now
        let all = (0..<threads).map { sender in
            let done = DispatchSemaphore(value: 0)
            Thread {
                for number in 1...count { body(SenderCounts.event(sender, UInt64(number))) }
                done.signal()
            }.start()
            return done
        }
        for thread in all { thread.wait() }
        return began.duration(to: .now).inSeconds
    }

    // MARK: Making

    private static func make(_ role: Role) throws {
        let count = try role.number("count")
        let feedbacks = try role.number("feedbacks")
        var loops = (0..<64).map { _ in loop(feedbacks) }
        loops.reserveCapacity(loops.count + count)
        let bytes = reference_heap_bytes()
        let began = ProcessorTime.seconds
        for _ in 0..<count { loops.append(loop(feedbacks)) }
        let seconds = ProcessorTime.seconds - began
        let size = Double(reference_heap_bytes() - bytes) / Double(count)
        for loop in loops {
            loop.send(1)
            try loop.state.check(1)
        }
        Role.say("microseconds", seconds / Double(count) * 1e6)
        Role.say("bytes", size)
    }
}
