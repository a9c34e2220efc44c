import LoopCollections
import LoopCompatibility
import LoopCore
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

/// A million events in a release build. A build for debugging takes 15 µs for each: with all of them, each of the two tests would
/// last 15 seconds.
#if DEBUG
    private let flood = 100_000
#else
    private let flood = 1_000_000
#endif

/// What badly behaved bodies may do.
@Suite(.timeLimit(.minutes(5))) struct `Effects of every conduct` {
    @Test func `one that ends in the middle has sent what it has sent, and is not started again`() async {
        let loop = counting([
            .react("half", request: { $0.value >= 0 }) { (_: Bool) in
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
            .react("half", request: { _ in 0 }) { (_: Int, context) in
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

    @Test func `one that ignores its cancellation holds up no other, and nothing that it sends is reduced`() async {
        let log = Log()
        let loop = counting([
            .react("deaf", request: { $0.value }) { value in
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
            .react("late", request: { $0.value }) { (value: Int) in
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
        let count = flood
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

    @Test func `one that gives a flood of events at once has them reduced in order`() {
        let loop = Loop<Int, Int>(
            initial: 0, reducer: { state, event in if event == state { state += 1 } },
            feedbacks: [.react("all", request: { _ in 0 }) { (_: Int) in .events(of: Array(0..<flood)) }])
        #expect(loop.state == flood)
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

    @Test func `one of a stream that throws becomes the event that its feedback makes of it, and the next one runs`()
        async
    {
        let loop = counting([
            .compacting("latest", state: { $0.map(\.value).filter { [1, 111].contains($0) } }) { value in
                .run { send in
                    if value == 1 { throw Broken() }
                    try await send(1000)
                }
            }
            .failing { (value: Int, failure) in failure.message == "\(Broken())" ? 10 * value : nil },
            // A feedback of a part, which a modifier of the whole adapts, does so too.
            CountingFeedback.compacting("events", events: { $0.filter { $0 == 1 } }) { _ in .run { _ in throw Broken() }
            }
            .failing { (event: Int, _) in event }
            .pullback(value: \.self, embedEvent: { 100 * $0 }, extractEvent: { $0 }),
        ])
        loop.send(1)
        let state = await first(loop) { $0.value == 1111 }
        #expect(state.map { Set($0.events) } == ["1", "10", "100", "1000"])
        loop.stop()
    }

    @Test func `one of a stream that throws and has no event for it ends alone`() async {
        let log = Log()
        let loop = counting([
            .compacting("latest", events: { $0 }) { event in
                .run { send in
                    log.add("run \(event)")
                    if event == 1 { throw Broken() }
                    if event == 2 { try await send(10) }
                }
            },
            .extractingAndKeeping("other", payload: { $0 == 1 ? $0 : nil }) { (_: Int) in .lasting("other", log) },
        ])
        loop.send(1)
        await log.wait(for: "run 1")
        loop.send(2)
        #expect(await first(loop) { $0.value == 13 } != nil)
        #expect(!log.lines.contains("cancel other"))
        #expect(loop.parked == [])
        loop.stop()
        await log.wait(for: "cancel other")
    }

    @Test func `one of a stream that has been replaced reports no failure`() async {
        let log = Log()
        let loop = counting([
            .compacting("latest", events: { $0.filter { $0 < 10 } }) { (event: Int) in
                .run { _ in
                    log.add("run \(event)")
                    if event == 2 { return }
                    await log.wait(for: "go on")
                    log.add("throws")
                    throw Broken()
                }
            }
            .failing { (event: Int, _) in 100 * event },
            .custom("last") { transitions, send in
                for await (_, event) in transitions where event == 2 {
                    await log.wait(for: "throws")
                    try? await send(20)
                }
            },
        ])
        loop.send(1)
        await log.wait(for: "run 1")
        loop.send(2)
        await log.wait(for: "run 2")
        log.add("go on")
        #expect(await first(loop) { $0.events.contains("20") }?.events == ["1", "2", "20"])
        loop.stop()
    }

    @Test func `a reader of the latest states takes the newest of those that wait, and ends with the loop`() async {
        let loop = counting()
        var (all, latest) = (loop.states.makeAsyncIterator(), loop.states.latest.makeAsyncIterator())
        var part = loop.scoped(to: \.value, event: { (event: Int) in event }).states.latest.makeAsyncIterator()
        for _ in 0..<1000 { loop.send(1) }
        #expect(await latest.next()?.value == 1000)
        #expect(await part.next() == 1000)
        loop.send(1)
        loop.stop()
        #expect(await latest.next()?.value == 1001)
        #expect(await latest.next() == nil)
        #expect(await part.next() == 1001)
        for expected in 0...1001 { #expect(await all.next()?.value == expected) }
        #expect(await all.next() == nil)
    }
}
