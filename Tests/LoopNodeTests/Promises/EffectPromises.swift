import LoopCompatibility
import LoopCore
import LoopNode
import LoopView
import Testing
import ZMQ

private struct Broken: Error {}

/// Promises of feedbacks and of how long effects live, kept by a loop in a process and by one across processes alike.
@Suite(.timeLimit(.minutes(5))) struct `Effects in every runtime` {
    @Test(arguments: Runtime.allCases)
    func `13 23 a middleware gets each event with the state after it, and never the initial state`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let stage = try Stage(runtime, log, [.middleware("m") { .passing("\($1) \($0.value)", log) }])
        try await stage.send(1)
        // What is cancelled before its body has begun need not begin.
        await log.wait(for: "start 1 1")
        try await stage.send(2)
        await log.wait(for: "start 2 3")
        #expect(log.said("start") == ["1 1", "2 3"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `14 the initial state starts what follows the state, and nothing else`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, initial: 1, log,
            [
                .extracting("event", payload: { $0 }) { .passing("event \($0)", log) },
                .react("state", request: { $0.value }) { .passing("state \($0)", log) },
            ])
        await log.wait(for: "start state 1")
        try await stage.send(1)
        await log.wait(for: "start event 1")
        await log.wait(for: "start state 2")
        #expect(runtime.begun(log.said("start"), at: [1, 2]) == ["state 1", "event 1", "state 2"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `17 18 19 another value cancels and starts, nil cancels, an equal one does nothing`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, initial: 1, log,
            [.react("s", request: { $0.value < 5 ? $0.value / 2 : nil }) { .lasting("\($0)", log) }])
        await log.wait(for: "start 0")
        try await stage.send(1)
        await log.wait(for: "start 1")
        try await stage.send(1)
        try await stage.send(5)
        await log.wait(for: "cancel 1")
        // x, nil, x runs again.
        try await stage.send(-5)
        await log.wait(for: "start 1", count: 2)
        await log.wait(for: "cancel 0")
        #expect(log.said("start") == ["0", "1", "1"])
        #expect(log.said("cancel").sorted() == ["0", "1"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `17 25 what an effect sends after its cancellation is not reduced`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, log,
            [
                .react("s", request: { $0.value }) { value in
                    .run { send in
                        if value > 0 { return try await send(0) }
                        log.add("waits")
                        await log.wait(for: "go on")
                        do {
                            try await send.sendAndConfirm(100)
                        } catch {
                            log.add("refused")
                        }
                    }
                }
            ])
        await log.wait(for: "waits")
        try await stage.send(1)
        await log.wait(for: "reduce 0")
        log.add("go on")
        await log.wait(for: "refused")
        #expect(stage.reduced == [1, 0])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `20 lensing starts at every state with a value`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, log, [.lensing("l", state: { $0.value > 0 ? 7 : nil }) { (_: Int) in .lasting("it", log) }])
        for (count, event) in [1, 0, 1].enumerated() {
            try await stage.send(event)
            await log.wait(for: "start it", count: count + 1)
        }
        await log.wait(for: "cancel it", count: 2)
        try await stage.send(-2)
        await log.wait(for: "cancel it", count: 3)
        #expect(log.said("start").count == 3)
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `21 edges start and end, and what is between does nothing`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, initial: 1, log,
            [
                .firstValueAfterNil("value", state: { $0.value > 0 ? $0.value : nil }) { .lasting("value \($0)", log) },
                .whenBecomesTrue("true", state: { $0.value > 1 }) { .lasting("true \($0.value)", log) },
            ])
        await log.wait(for: "start value 1")
        try await stage.send(1)
        await log.wait(for: "start true 2")
        for event in [1, -3] { try await stage.send(event) }
        await log.wait(for: "cancel true 2")
        await log.wait(for: "cancel value 1")
        try await stage.send(2)
        await log.wait(for: "start value 2")
        await log.wait(for: "start true 2", count: 2)
        let starts = ["value 1", "true 2", "value 2", "true 2"]
        #expect(runtime.begun(log.said("start"), at: [1, 1, 2]) == runtime.begun(starts, at: [1, 1, 2]))
        #expect(log.said("cancel").sorted() == ["true 2", "value 1"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `22 an unmatched event cancels and forgets, but for the keeping forms`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let odd: @Sendable (Int) -> Int? = { $0 % 2 == 1 ? $0 : nil }
        let stage = try Stage(
            runtime, log,
            [
                .extracting("e", payload: odd) { .lasting("e\($0)", log) },
                .skippingRepeated("s", events: odd) { .lasting("s\($0)", log) },
                .skippingRepeatedAndKeeping("k", events: odd) { .lasting("k\($0)", log) },
            ])
        try await stage.send(1)
        for start in ["start e1", "start s1", "start k1"] { await log.wait(for: start) }
        try await stage.send(1)
        await log.wait(for: "start e1", count: 2)
        for event in [2, 1] { try await stage.send(event) }
        await log.wait(for: "start e1", count: 3)
        await log.wait(for: "start s1", count: 2)
        await log.wait(for: "cancel e1", count: 2)
        await log.wait(for: "cancel s1")
        #expect(log.said("start").sorted() == ["e1", "e1", "e1", "k1", "s1", "s1"])
        #expect(log.said("cancel").sorted() == ["e1", "e1", "s1"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `24 keys that vanish are cancelled, new ones start, and a newer request reaches its effect`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, initial: 2, log,
            [
                // A key for each number below the value; the request of key 0 is the value.
                .react("each", requests: { Dictionary(uniqueKeysWithValues: (0..<$0.value).map { ($0, $0) }) }) { key in
                    .lasting("key \(key)", log)
                },
                .react("newer", requests: { ["it": $0.value] }) { (first: Int, context) in
                    .run { _ in
                        log.add("first \(first)")
                        for await update in context.updates(of: Int.self) { log.add("newer \(update)") }
                    }
                },
                .react("set", requests: { Set([$0.value / 2]) }) { .lasting("half \($0)", log) },
            ])
        for line in ["first 2", "start key 0", "start key 1", "start half 1"] { await log.wait(for: line) }
        try await stage.send(1)
        await log.wait(for: "newer 3")
        await log.wait(for: "start key 2")
        try await stage.send(-2)
        await log.wait(for: "newer 1")
        await log.wait(for: "cancel key 1")
        await log.wait(for: "cancel key 2")
        await log.wait(for: "start half 0")
        #expect(log.said("start").sorted() == ["half 0", "half 1", "key 0", "key 1", "key 2"])
        #expect(log.said("first") == ["2"])
        #expect(log.said("cancel").sorted() == ["half 1", "key 1", "key 2"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `24 26 an effect that has ended is not started again while its key stays, and others are`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, initial: 1, log,
            [
                .react("each", requests: { Dictionary(uniqueKeysWithValues: (0..<$0.value).map { ($0, $0) }) }) {
                    .passing("\($0)", log)
                }
            ])
        await log.wait(for: "start 0")
        try await stage.send(1)
        await log.wait(for: "start 1")
        for event in [-1, 1] { try await stage.send(event) }
        await log.wait(for: "start 1", count: 2)
        // Effects of two keys start in any order.
        #expect(log.said("start").sorted() == ["0", "1", "1"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `25 of three events only the first is reduced when it cancels their effect, and others' are`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, log,
            [
                .react("three", request: { $0.value == 1 ? 1 : nil }) { (_: Int) in .events(10, 20, 30) },
                .whenBecomesTrue("others", state: { $0.value > 0 }) { _ in .events(100, 200) },
            ])
        try await stage.send(1)
        await log.wait(for: "reduce 200")
        try await stage.send(5)
        // Where the others' come first, they cancel the effect before its first is reduced.
        let possible = [[1, 10, 100, 200, 5], [1, 100, 200, 5], [1, 100, 10, 200, 5]]
        #expect(possible.contains(stage.reduced), "\(stage.reduced)")
        #expect(!stage.reduced.contains(20) && !stage.reduced.contains(30))
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `27 what a source has sent stays when it has ended, whatever the state`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, log, [.source("three") { send in for number in 1...3 { try await send(number) } }])
        await log.wait(for: "reduce 3")
        try await stage.send(10)
        #expect(stage.reduced == [1, 2, 3, 10])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `28 an error becomes the feedback's event and stops nothing else`(runtime: Runtime) async throws {
        let log = PromiseLog()
        let stage = try Stage(
            runtime, log,
            [
                .extractingAndKeeping("bad", payload: { $0 < 5 ? $0 : nil }) { (_: Int) in
                    .run { _ in throw Broken() }
                }
                .failing { (request: Int, _) in 50 + request },
                .extractingAndKeeping("good", payload: { $0 < 5 ? $0 : nil }) { .passing("\($0)", log) },
            ])
        try await stage.send(1)
        await log.wait(for: "reduce 51")
        await log.wait(for: "start 1")
        try await stage.send(2)
        await log.wait(for: "reduce 52")
        await log.wait(for: "start 2")
        #expect(log.said("start") == ["1", "2"])
        #expect(stage.reduced == [1, 51, 2, 52])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `32 a feedback of a part sees the part and its own events, and sends the whole's`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        // The part is the tens; its events are the multiples of ten.
        let stage = try Stage(
            runtime, log,
            [
                Feedback<Int, Int>.react("tens", request: { $0 }) { .passing("tens \($0)", log) },
                Feedback<Int, Int>.middleware("events") { part, event in
                    log.add("start event \(event) \(part)")
                    guard event == 2 else { return .none }
                    return .run { send in
                        await log.wait(for: "start tens 2")
                        try await send(3)
                    }
                },
            ].map {
                $0.pullback(
                    value: { (whole: Tally.State) in whole.value / 10 }, embedEvent: { $0 * 10 },
                    extractEvent: { $0 % 10 == 0 ? $0 / 10 : nil })
            })
        await log.wait(for: "start tens 0")
        try await stage.send(1)
        try await stage.send(20)
        await log.wait(for: "start event 3 5")
        await log.wait(for: "start tens 5")
        #expect(log.said("start").sorted() == ["event 2 2", "event 3 5", "tens 0", "tens 2", "tens 5"])
        #expect(stage.reduced == [1, 20, 30])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `33 36 combined feedbacks of a part are cancelled together when it goes, and start over`(
        runtime: Runtime
    ) async throws {
        let log = PromiseLog()
        let both = Feedback<Int, Int>.combine(
            .react("a", request: { $0 }) { .lasting("a\($0)", log) },
            .whenBecomesTrue("b", state: { $0 > 1 }) { .lasting("b\($0)", log) })
        let stage = try Stage(
            runtime, initial: 2, log,
            [
                both.pullback(
                    optionalValue: { (whole: Tally.State) in whole.value < 5 ? whole.value : nil },
                    embedEvent: { $0 }, extractEvent: { $0 })
            ])
        await log.wait(for: "start a2")
        await log.wait(for: "start b2")
        try await stage.send(5)
        await log.wait(for: "cancel a2")
        await log.wait(for: "cancel b2")
        try await stage.send(-5)
        await log.wait(for: "start a2", count: 2)
        await log.wait(for: "start b2", count: 2)
        #expect(runtime.begun(log.said("start"), at: [2, 2]) == ["a2", "b2", "a2", "b2"])
        try await stage.end()
    }

    @Test(arguments: Runtime.allCases)
    func `29 who follows the states and sends contributes what he sends and nothing else`(
        runtime: Runtime
    ) async throws {
        let stage = try Stage(runtime)
        // Across processes that is what a custom feedback is to be.
        let follower = Task {
            var answered = false
            await stage.states { state in
                if state.value == 1, !answered {
                    answered = true
                    stage.store().send(event: 10)
                }
                return state.value != 16
            }
        }
        try await stage.send(1)
        await stage.states { $0.value != 11 }
        try await stage.send(5)
        await follower.value
        #expect(stage.reduced == [1, 10, 5])
        try await stage.end()
    }

    @Test func `29 a reducer node refuses a custom feedback and says what to do instead`() throws {
        let tally = Tally(
            initial: Tally.State(value: 0), log: PromiseLog(), feedbacks: [.custom("watch") { _, _ in }])
        let error = #expect(throws: NodeError.self) {
            try ReducerNode(tally, configuration: .test("inproc://custom", ZMQContext()))
        }
        let text = error?.description ?? ""
        #expect(text.contains("\"watch\""))
        #expect(text.contains("RemoteLoop"))
    }
    @Test func `a reducer node refuses feedbacks of one name and says how to rename them`() throws {
        let fetch = Feedback<Tally.State, Int>.react("fetch", request: { $0.value }, effect: { (_: Int) in .none })
        let feedbacks = [fetch, fetch.named("b"), fetch]
        let tally = Tally(initial: Tally.State(value: 0), log: PromiseLog(), feedbacks: feedbacks)
        let error = #expect(throws: NodeError.self) {
            try ReducerNode(tally, configuration: .test("inproc://names", ZMQContext()))
        }
        let text = error?.description ?? ""
        #expect(text.contains("feedbacks 1 and 3 of"))
        #expect(text.contains("both named \"fetch\""))
        #expect(text.contains(".named(") && text.contains("pullback(part:"))
    }
}
