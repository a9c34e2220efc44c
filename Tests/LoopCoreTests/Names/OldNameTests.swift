import LoopCompatibility
import LoopCore
import Testing

/// The names of both generations are there, and each means what the named one means.
@Suite(.timeLimit(.minutes(5))) struct `Old names` {
    typealias Form = Feedback<Int?, String>

    /// The wishes of a feedback for 1, 1, 2, nil and 3, each with an event of the same text.
    private func wishes(_ feedback: Form) -> [String] {
        var wishes = Wishes(feedback)
        return wishes.after(1)
            + [(1, "1"), (2, "2"), (nil, "x"), (3, "3")].flatMap { wishes.after($0, $1) }
    }

    @Test func `feedbacks without a name mean what those with one mean`() {
        let pairs: [(Form, Form)] = [
            (
                .lensing(state: { $0 }, effects: { (_: Int) in .none }),
                .lensing("a", state: { $0 }, effects: { (_: Int) in .none })
            ),
            (
                .skippingRepeated(state: { $0 }, effects: { (_: Int) in .none }),
                .skippingRepeated("a", state: { $0 }, effects: { (_: Int) in .none })
            ),
            (
                .firstValueAfterNil({ $0 }, effects: { (_: Int) in .none }),
                .firstValueAfterNil("a", state: { $0 }, effects: { (_: Int) in .none })
            ),
            (
                .whenBecomesTrue({ $0 != nil }, effects: { _ in .none }),
                .whenBecomesTrue("a", state: { $0 != nil }, effect: { _ in .none })
            ),
            (
                .extracting(payload: { Int($0) }, effects: { (_: Int) in .none }),
                .extracting("a", payload: { Int($0) }, effect: { (_: Int) in .none })
            ),
            (
                .skippingRepeated(events: { Int($0) }, effects: { (_: Int) in .none }),
                .skippingRepeated("a", events: { Int($0) }, effects: { (_: Int) in .none })
            ),
            (.middleware(effect: { _, _ in .none }), .middleware("a") { _, _ in .none }),
            (
                .react(request: { $0 }, effects: { (_: Int) in .none }),
                .react("a", request: { $0 }, effect: { (_: Int) in .none })
            ),
            (
                .react(requests: { Set([$0].compactMap { $0 }) }, effects: { (_: Int) in .none }),
                .react("a", requests: { Set([$0].compactMap { $0 }) }, effect: { (_: Int) in .none })
            ),
            (
                .react(requests: { ["k": $0 ?? 0] }, effects: { (_: Int, _) in .none }),
                .react("a", requests: { ["k": $0 ?? 0] }, effect: { (_: Int) in .none })
            ),
            (
                Feedback(skippingRepeated: { $0 }, effects: { (_: Int) in .none }),
                .skippingRepeated("a", state: { $0 }, effects: { (_: Int) in .none })
            ),
            (
                Feedback(lensing: { $0 }, effects: { (_: Int) in .none }),
                .lensing("a", state: { $0 }, effects: { (_: Int) in .none })
            ),
            (Feedback(effects: { _ in .none }), .everyState("a") { _ in .none }),
            (
                Feedback(skippingRepeatedState: { $0 }, effects: { (_: Int) in .none }),
                .skippingRepeated("a", state: { $0 }, effects: { (_: Int) in .none })
            ),
            (
                Feedback(query: { $0 }, effects: { (_: Int) in .none }),
                .skippingRepeated("a", state: { $0 }, effects: { (_: Int) in .none })
            ),
            (
                Feedback(skippingRepeatedEvents: { Int($0) }, effects: { (_: Int) in .none }),
                .skippingRepeated("a", events: { Int($0) }, effects: { (_: Int) in .none })
            ),
            (
                Feedback(extractingPayload: { Int($0) }, effects: { (_: Int) in .none }),
                .extracting("a", payload: { Int($0) }, effect: { (_: Int) in .none })
            ),
            (
                .lensing(event: { Int($0) }, effects: { (_: Int) in .none }),
                .extracting("a", payload: { Int($0) }, effect: { (_: Int) in .none })
            ),
            (
                Feedback(firstValueAfterNil: { $0 }, effects: { (_: Int) in .none }),
                .firstValueAfterNil("a", state: { $0 }, effects: { (_: Int) in .none })
            ),
            (
                Feedback(whenBecomesTrue: { $0 != nil }, effects: { _ in .none }),
                .whenBecomesTrue("a", state: { $0 != nil }, effect: { _ in .none })
            ),
            (
                .react(query: { $0 }, effects: { (_: Int) in .none }),
                .react("a", request: { $0 }, effect: { (_: Int) in .none })
            ),
            (
                .react(query: { Set([$0].compactMap { $0 }) }, effects: { (_: Int) in .none }),
                .react("a", requests: { Set([$0].compactMap { $0 }) }, effect: { (_: Int) in .none })
            ),
            (
                Feedback(predicate: { $0 != nil }, effects: { _ in .none }),
                .whileTrue("a", state: { $0 != nil }, effects: { _ in .none })
            ),
        ]
        for (old, new) in pairs {
            #expect(wishes(old) == wishes(new), "\(old.name)")
            #expect(wishes(old) != [])
        }
    }

    @Test func `a predicate by its first name starts at every state, and whenBecomesTrue at the edge`() {
        let isThere: @Sendable (Int?) -> Bool = { $0 != nil }
        #expect(wishes(Form(predicate: isThere, effects: { _ in .none })).count { $0.hasPrefix("start") } == 4)
        #expect(wishes(.whenBecomesTrue(isThere, effects: { _ in .none })).count { $0.hasPrefix("start") } == 2)
    }

    @Test func `feedbacks without a name are named for their places`() {
        let one = Form.lensing(state: { $0 }, effects: { (_: Int) in .none })
        let other = Form.lensing(state: { $0 }, effects: { (_: Int) in .none })
        #expect(one.name.hasPrefix("LoopCoreTests/OldNameTests.swift:"))
        #expect(one.name != other.name)
    }

    @Test func `sources, inputs, streams and bindings without a name`() async {
        let numbers = AsyncStream<Int> { continuation in
            continuation.yield(1)
            continuation.finish()
        }
        let (input, observer) = CountingFeedback.input
        let log = Log()
        let loop = counting([
            .source(numbers, as: { $0 * 100 }), input,
            .custom { transitions, send in
                for await transition in transitions where transition.event == 100 { try? await send(20) }
            },
            .compacting(state: { $0.filter { $0.value == 123 } }, effects: { _ in .event(1000) }),
            .compacting(events: { $0.filter { $0 == 1000 } }, effects: { _ in .event(20_000) }),
            Feedback(events: { $0.filter { $0.value == 21_123 }.map { _ in 300_000 } }),
            .bind { Bindings(subscriptions: [{ for await state in $0 { log.add("\(state.value)") } }]) },
        ])
        observer(3)
        let state = await first(loop) { $0.value == 321_123 }
        #expect(state != nil)
        await log.wait(for: "321123")
        loop.stop()
    }

    @Test func `sources and streams by the names of their initializers`() async {
        let numbers = AsyncStream<Int> { continuation in
            continuation.yield(1)
            continuation.finish()
        }
        let loop = counting([
            Feedback(source: numbers, as: { $0 * 100 }),
            Feedback(compacting: { $0.filter { $0.value == 100 } }, effects: { _ in .event(1000) }),
            Feedback(compactingState: { $0.filter { $0.value == 1100 } }, effects: { _ in .event(20_000) }),
            Feedback(compactingEvents: { $0.filter { $0 == 20_000 } }, effects: { _ in .event(300_000) }),
        ])
        #expect(await first(loop) { $0.value == 321_100 } != nil)
        loop.stop()
    }

    @Test func `cold loops of a reducer that changes the state`() async {
        let isShort: @Sendable (Int) -> Bool = { $0 < 3 }
        let up = [Feedback<Int, Int>(predicate: isShort, effects: { _ in .event(1) })]
        for states in [
            system(initial: 0, reducer: { $0 += $1 }, feedbacks: up),
            feedbackLoop(initial: 0, reducer: { $0 += $1 }, feedbacks: up),
        ] {
            var iterator = states.makeAsyncIterator()
            while let state = await iterator.next(), state < 3 {}
            #expect(await states.first { $0 == 3 } == 3)
        }
    }

    @Test func `reducers of the first generation return the state`() {
        let loop = Loop<Int, Int>(initial: 1, reduce: { $0 + $1 })
        loop.send(2)
        #expect(loop.state == 3)
    }

    @Test func `feedbackLoop is system by another name`() async {
        let states = feedbackLoop(
            initial: 0, reduce: { $0 + $1 }, feedbacks: [Feedback(predicate: { $0 < 3 }, effects: { _ in .event(1) })])
        var last = 0
        for await state in states {
            last = state
            if state == 3 { break }
        }
        #expect(last == 3)
    }
}
