import LoopCore
import TestClocks
import Testing

/// What the pages of docs/coming-from write for `debounce` and `throttle` of the reactive libraries.
@Suite(.timeLimit(.minutes(5))) struct `Debounced and throttled effects` {
    private let clock = PoolClock()
    private let found = Log<[String]>()

    private func loop(_ feedback: SearchFeedback) -> Loop<Search, SearchEvent> {
        Loop(
            initial: Search(),
            reducer: { [found] state, event in
                if case .found(let results) = event { found.add(results) }
                reduce(&state, event)
            }, feedbacks: [feedback], clock: clock)
    }

    @Test func `a debounced effect of the state runs when the value has stayed the same for a while`() async {
        let loop = loop(timed(clock)[0])
        await clock.sleeper(until: .milliseconds(300))
        clock.advance(to: .milliseconds(100))
        loop.send(.type("a"))
        await clock.sleeper(until: .milliseconds(400))
        clock.advance(to: .milliseconds(399))
        loop.send(.type("ab"))
        loop.send(.tick)
        await clock.advance(toSleeperAt: .milliseconds(699))
        for await state in loop.states where !state.results.isEmpty { break }
        #expect(found.entries == [["ab"]])
        loop.stop()
    }

    @Test func `a debounced effect of events is not disturbed by other events`() async {
        let loop = loop(timed(clock)[1])
        loop.send(.type("a"))
        await clock.sleeper(until: .milliseconds(300))
        clock.advance(to: .milliseconds(200))
        loop.send(.type("ab"))
        await clock.sleeper(until: .milliseconds(500))
        loop.send(.tick)
        clock.advance(to: .milliseconds(500))
        for await state in loop.states where !state.results.isEmpty { break }
        #expect(found.entries == [["ab"]])
        loop.stop()
    }

    @Test func `a throttled effect runs for the latest value, no more often than its rate`() async {
        let loop = loop(timed(clock)[2])
        let ask: (String) -> Void = { text in
            loop.send(.type(text))
            loop.send(.submit)
        }
        ask("a")
        await clock.advance(toSleeperAt: .milliseconds(500))
        for await state in loop.states where state.results == ["a"] { break }
        ask("b")
        ask("c")
        await clock.advance(toSleeperAt: .milliseconds(1000))
        for await state in loop.states where state.results != ["a"] { break }
        clock.advance(to: .seconds(5))
        ask("d")
        for await state in loop.states where state.results == ["d"] { break }
        #expect(found.entries == [["a"], ["c"], ["d"]])
        loop.stop()
    }
}
