import LoopCollections
import LoopCompatibility
import LoopCore
import Testing

/// What the loops of Loop, ReactiveFeedback, RxFeedback and CombineFeedback do, as their users know it.
@Suite(.timeLimit(.minutes(5))) struct `Loops as in the libraries` {
    private static func text(_ feedbacks: [Feedback<String, String>]) -> ColdStates<String> {
        system(initial: "initial", reduce: { (state: String, event: String) in state + event }, feedbacks: feedbacks)
    }

    @Test func `the initial state comes first`() async {
        #expect(await take(9, of: Self.text([])) == ["initial"])
        #expect(await take(1, of: Self.text([Feedback(effects: { _ in .event("_a") })])) == ["initial"])
    }

    @Test func `a feedback that answers every state at once`() async {
        let states = Self.text([Feedback(effects: { _ in .event("_a") })])
        #expect(await take(4, of: states) == ["initial", "initial_a", "initial_a_a", "initial_a_a_a"])
    }

    @Test func `two feedbacks that answer at once take turns`() async {
        let states = Self.text([
            Feedback(predicate: { !$0.hasSuffix("_a") }, effects: { _ in .event("_a") }),
            Feedback(predicate: { !$0.hasSuffix("_b") }, effects: { _ in .event("_b") }),
        ])
        let seen = await take(5, of: states)
        #expect(seen == ["initial", "initial_a", "initial_a_b", "initial_a_b_a", "initial_a_b_a_b"])
    }

    @Test func `a feedback that answers from a task`() async {
        let states = Self.text([
            Feedback(effects: { state in .task { state.count < 20 ? "_a" : nil } })
        ])
        #expect(await take(4, of: states) == ["initial", "initial_a", "initial_a_a", "initial_a_a_a"])
    }

    @Test func `events are made of states`() async {
        let states = Self.text([Feedback(events: { $0.filter { $0 == "initial" }.map { _ in "_a" } })])
        #expect(await take(2, of: states) == ["initial", "initial_a"])
    }

    @Test func `a feedback that completes does not complete the system`() async {
        let states = Self.text([
            Feedback(effects: { _ in .none }),
            .source("late") { send in
                try await Task.sleep(for: .milliseconds(1))
                try await send("_late")
            },
        ])
        #expect(await take(2, of: states) == ["initial", "initial_late"])
    }

    @Test func `an input feeds a cold loop from its start`() async {
        let (input, observer) = Feedback<String, String>.input
        observer("_early")
        var states = Self.text([input]).makeAsyncIterator()
        #expect(await states.next() == "initial")
        observer("_late")
        #expect(await states.next() == "initial_early")
        #expect(await states.next() == "initial_early_late")
    }

    @Test func `each iteration has its own loop, which ends with it`() async {
        let lives = Locked(0)
        let states = Self.text([
            .custom { transitions, send in
                lives.withLock { $0 += 1 }
                try? await send("_a")
                for await _ in transitions {}
                lives.withLock { $0 -= 1 }
            }
        ])
        for _ in 0..<3 { #expect(await take(2, of: states) == ["initial", "initial_a"]) }
        while lives.withLock({ $0 }) > 0 { await Task.yield() }
    }

    @Test func `events from outside are reduced one after the other, from whichever thread`() async {
        let (input, observer) = Feedback<Int, Int>.input
        let loop = Loop(initial: 0, reduce: { (state: Int, event: Int) in state + event }, feedbacks: [input])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<250 { observer(1) } } }
        }
        for await state in loop.states where state == 1000 { break }
    }

    @Test func `an effect may follow its own loop`() async {
        let holder = LoopHolder(nil)
        let log = Log()
        let loop = counting([
            .firstValueAfterNil("follow", state: { $0.value > 0 ? true : nil }) { _ in
                guard let states = holder.loop?.states else { return .none }
                return .run { _ in for await state in states { log.add("sees \(state.value)") } }
            }
        ])
        holder.hold(loop)
        loop.send(1)
        loop.send(1)
        await log.wait(for: "sees 1")
        await log.wait(for: "sees 2")
        holder.hold(nil)
    }

    @Test func `a middleware sees the state after its event`() async {
        let loop = counting([
            .middleware(effect: { state, event in event == 1 ? .event(10 * state.value) : .none })
        ])
        loop.send(1)
        #expect(loop.state.events == ["1", "10"])
    }

    @Test func `pausing a feedback cancels it, and going on begins with the state of that moment`() async {
        let log = Log()
        let loop = counting([
            CountingFeedback.skippingRepeated("effect", state: \.value) { .lasting("\($0)", log) }
                .autoconnect(followingChangesIn: { $0.value != 1 })
        ])
        await log.wait(for: "run 0")
        loop.send(1)
        await log.wait(for: "cancel 0")
        loop.send(1)
        await log.wait(for: "run 2")
        #expect(!log.lines.contains("start 1"))
        loop.stop()
    }
}
