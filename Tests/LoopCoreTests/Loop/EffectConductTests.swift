import LoopCore
import LoopLock
import Testing

private struct Broken: Error {}

/// Sends, and says why that was refused.
private func refusal(_ send: Send<Int>, _ event: Int) async -> String {
    do {
        try await send(event)
        return "none"
    } catch {
        return "\(error.reason)"
    }
}

/// What bodies may do that nobody hopes for.
@Suite(.timeLimit(.minutes(1))) struct `Effects of every conduct` {
    @Test func `one that ends in the middle has sent what it has sent, and is not started again`() async {
        let loop = counting([
            .skippingRepeated("half", state: { $0.value >= 0 }) { (_: Bool) in
                .run { send in
                    for number in [1, 2, 3] where number < 3 { try await send(number) }
                }
            }
        ])
        let state = await first(loop) { $0.events.count == 2 }
        #expect(state?.events == ["1", "2"])
        while loop.phases.values.contains(.running) { await Task.yield() }
        loop.send(10)
        #expect(loop.state.events == ["1", "2", "10"])
        #expect(loop.phases == [EffectID(feedback: 0, seq: .initial, index: 0): .completed])
    }

    @Test func `one that throws in the middle has sent what it has sent, and sends it again when it is tried again`()
        async
    {
        let loop = counting([
            .skippingRepeated("half", state: { _ in 0 }) { (_: Int, context) in
                .run { send in
                    try await send(context.failures + 1)
                    if context.failures == 0 { throw Broken() }
                    try await send(10)
                }
            }
            .retry(Retry(attemptsMax: 2, firstDelay: .zero, delayMax: .zero, factor: 1, jitter: 0))
        ])
        let state = await first(loop) { $0.events.count == 3 }
        #expect(state?.events == ["1", "2", "10"])
        #expect(loop.parked == [])
    }

    @Test func `one that does not heed its cancellation holds up nobody, and nothing that it sends is reduced`() async {
        let log = Log()
        let loop = counting([
            .skippingRepeated("deaf", state: { $0.value }) { value in
                .run { send in
                    log.add("run \(value)")
                    // Waits for a line, and for nothing else.
                    await log.wait(for: "go on")
                    for _ in 0..<3 { log.add("\(value): \(await refusal(send, 100))") }
                }
            }
            .limited(to: 1)
        ])
        await log.wait(for: "run 0")
        // Its place among the limited is free at once.
        loop.send(1)
        await log.wait(for: "run 1")
        loop.send(1)
        await log.wait(for: "run 2")
        loop.stop()
        log.add("go on")
        for value in 0...2 { await log.wait(for: "\(value): ended", count: 3) }
        #expect(loop.state.events == ["1", "1"])
    }

    @Test func `one that sends after its cancellation is refused, and the one in its place is not`() async {
        let log = Log()
        let loop = counting([
            .skippingRepeated("late", state: { $0.value }) { (value: Int) in
                .run { send in
                    if value == 0 {
                        log.add("waits")
                        await log.wait(for: "go on")
                    }
                    log.add("\(value): \(await refusal(send, value == 0 ? 100 : 0))")
                }
            }
        ])
        await log.wait(for: "waits")
        loop.send(1)
        await log.wait(for: "1: none")
        log.add("go on")
        await log.wait(for: "0: stale")
        #expect(loop.state.events == ["1", "0"])
    }

    @Test func `those that send without end are held up while many events wait, and lose none`() async {
        let count = 100_000
        let loop = Loop<[Int], Int>(
            initial: [0, 0],
            reducer: { state, event in
                // Each event says which is next, so that none is missing, doubled or out of its place.
                let source = event % 2
                if event / 2 == state[source] { state[source] += 1 }
            },
            feedbacks: (0..<2).map { source in
                .source("flood \(source)") { send in
                    for number in 0..<count / 2 { try await send(2 * number + source) }
                }
            })
        for await state in loop.states.latest where state == [count / 2, count / 2] { break }
        #expect(loop.seq == Seq(UInt64(count)))
    }

    @Test func `a hundred thousand events at once are reduced in order`() {
        let loop = Loop<Int, Int>(
            initial: 0, reducer: { state, event in if event == state { state += 1 } },
            feedbacks: [.skippingRepeated("all", state: { _ in 0 }) { (_: Int) in .events(of: Array(0..<100_000)) }])
        #expect(loop.state == 100_000)
    }

    @Test func `one that never ends lives as long as the loop, and keeps it from nothing`() async {
        let log = Log()
        var loop: CountingLoop? = counting([
            .source("ticks") { send in
                while true {
                    try await send(1)
                    try await Task.sleep(for: .microseconds(100))
                }
            },
            .source("silent") { _ in
                await withTaskCancellationHandler {
                    await log.wait(for: "never")
                } onCancel: {
                    log.add("cancelled")
                }
            },
        ])
        if let loop { _ = await first(loop) { $0.value >= 3 } }
        weak let remains = loop
        loop = nil
        await log.wait(for: "cancelled")
        #expect(remains == nil)
        log.add("never")
    }
}
