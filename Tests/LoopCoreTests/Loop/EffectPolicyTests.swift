import LoopCore
import TestClocks
import Testing

private struct Failed: RetryAdvice, CustomStringConvertible {
    var isTransient = true
    var retryAfter: Duration?
    var description: String { "failed" }
}

@Suite struct `Effect policies` {
    /// Delays of 1 s, 2 s, 4 s …
    private let exact = Retry(
        attemptsMax: 3, firstDelay: .seconds(1), delayMax: .seconds(60), factor: 2, jitter: 0)

    @Test func `a failed effect is tried again after growing delays and then parked`() async {
        let clock = PoolClock()
        let log = Log()
        let loop = counting(
            [
                .react("fetch", request: { $0.value }) { request, context in
                    .run { _ in
                        log.add("\(request) after \(context.failures) failures, key \(context.idempotencyKey)")
                        throw Failed()
                    }
                }
                .retry(exact)
            ], clock: clock)
        await log.wait(for: "0 after 0 failures, key loop@1/0.0.0")
        await clock.advance(toSleeperAt: .seconds(1))
        await log.wait(for: "0 after 1 failures, key loop@1/0.0.0")
        await clock.advance(toSleeperAt: .seconds(3))
        await log.wait(for: "0 after 2 failures, key loop@1/0.0.0")
        while loop.parked.isEmpty { await Task.yield() }
        let id = EffectID(feedback: 0, seq: .initial, index: 0)
        #expect(loop.parked == [parked(id, failures: 3)])

        #expect(loop.retryParked(id))
        await log.wait(for: "0 after 0 failures, key loop@1/0.0.0", count: 2)
        loop.send(1)
        #expect(loop.parked == [])
        #expect(!loop.retryParked(id))
    }

    @Test func `an error that trying again cannot help is final at once`() async {
        let loop = counting([
            .react("fetch", request: { $0.value }) { (_: Int) in
                .run { _ in throw Failed(isTransient: false) }
            }
            .retry(exact)
        ])
        while loop.parked.isEmpty { await Task.yield() }
        #expect(loop.parked == [parked(EffectID(feedback: 0, seq: .initial, index: 0), failures: 1)])
    }

    @Test func `the other side's wish for a pause is kept`() async {
        let clock = PoolClock()
        let log = Log()
        let loop = counting(
            [
                .react("fetch", request: { $0.value }) { (_: Int) in
                    .run { _ in
                        log.add("try")
                        throw Failed(retryAfter: .seconds(30))
                    }
                }
                .retry(exact)
            ], clock: clock)
        await clock.advance(toSleeperAt: .seconds(30))
        await log.wait(for: "try", count: 2)
        loop.stop()
    }

    @Test func `an attempt that takes too long fails and what it sends is refused`() async {
        let clock = PoolClock()
        let log = Log()
        let loop = counting(
            [
                .react("slow", request: { _ in true }) { _, context in
                    .run { send in
                        log.add("try \(context.failures)")
                        if context.failures > 0 { return try await send(5) }
                        // A body that does not listen to its cancellation.
                        await log.wait(for: "try 1")
                        do { try await send(7) } catch { log.add("\(error)") }
                    }
                }
                .timeout(.seconds(5)).retry(exact)
            ], clock: clock)
        await log.wait(for: "try 0")
        await clock.advance(toSleeperAt: .seconds(5))
        await clock.advance(toSleeperAt: .seconds(6))
        await log.wait(for: "refused: this attempt of the effect was taken away")
        #expect(await first(loop) { $0.value == 5 } != nil)
        #expect(loop.state.events == ["5"])
        loop.stop()
    }

    @Test func `no more effects run at once than allowed, and a group at its limit holds up no other`() async {
        let log = Log()
        let loop = counting([
            .react("pages", requests: { Dictionary(uniqueKeysWithValues: (0..<$0.value).map { ($0, $0) }) }) { page in
                .lasting("\(page)", log)
            }
            .limited(to: 3, perGroup: 2) { (page: Int) in page < 4 ? "a" : "b" }
        ])
        loop.send(8)
        #expect(log.lines.filter { $0.hasPrefix("start") } == ["start 0", "start 1", "start 4"])
        loop.stop()
    }

    @Test func `the next effect starts when one has ended`() async {
        let log = Log()
        let loop = counting([
            .react("pages", requests: { Dictionary(uniqueKeysWithValues: (0..<$0.value).map { ($0, $0) }) }) { page in
                .run { send in
                    log.add("start \(page)")
                    await log.wait(for: "go \(page)")
                    log.add("end \(page)")
                }
            }
            .limited(to: 1)
        ])
        loop.send(3)
        for page in 0..<3 {
            await log.wait(for: "start \(page)")
            log.add("go \(page)")
        }
        await log.wait(for: "end 2")
        #expect(
            log.lines == (0..<3).flatMap { ["start \($0)", "go \($0)", "end \($0)"] })
    }

    @Test func `ten thousand synchronous effects under a limit of one do not recurse`() {
        struct Many: Sendable {
            var sum = 0
            var wanted: [Int: Int] = [:]
        }
        let loop = Loop<Many, Int>(
            initial: Many(),
            reducer: { state, event in
                if event == 0 { state.wanted = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ($0, $0) }) }
                state.sum += event
            },
            feedbacks: [.react("many", requests: \.wanted) { (_: Int) in .event(1) }.limited(to: 1)])
        loop.send(0)
        #expect(loop.state.sum == 10_000)
    }

    @Test func `effects start no more often than their rate`() async {
        let clock = PoolClock()
        let log = Log()
        let loop = counting(
            [
                .react("pages", requests: { _ in ["a": 1, "b": 2, "c": 3] }) { page in
                    .task {
                        log.add("start \(page)")
                        return nil
                    }
                }
                .rated(RateLimit(perSecond: 2))
            ], clock: clock)
        for page in 1...3 {
            await clock.advance(toSleeperAt: .milliseconds(500 * page))
            await log.wait(for: "start \(page)")
        }
        #expect(log.lines == ["start 1", "start 2", "start 3"])
        loop.stop()
    }

    private func parked(_ id: EffectID, failures: Int) -> ParkedEffect {
        ParkedEffect(id: id, feedback: "fetch", failures: failures, reason: "failed")
    }
}
