import LoopCompatibility
import LoopCore
import LoopTesting
import Testing

/// The whole text of each kind of failure, but for its place.
@Suite struct `What TestLoop says` {
    @Test func `where it failed comes first`() throws {
        var line: UInt = 0
        do {
            try TestLoop.run(Crossing()) { loop in
                line = #line + 1
                try loop.expectStart("log")
            }
        } catch let failure as TestLoopFailure {
            #expect(failure.line == line)
            #expect(
                "\(failure)" == """
                    LoopTestingTests/TestLoopFailureTests.swift:\(line): expectStart("log"): no such effect has started
                        Not asserted yet:
                        0.0 seconds, seq 0: effect "timer" for red started (expectStart)
                    """)
        }
    }

    @Test func `a state that is not as expected`() {
        let text = failure { loop in
            let timer = try loop.expectStart("timer")
            try timer.send(.next) {
                $0.colour = .yellow
                $0.cameras["north"] = 1
            }
        }
        #expect(
            text == """
                timer.send(next): the state is not the expected one (- expected, + happened)
                - colour: yellow
                + colour: green
                - cameras["north"]: 1 (removed)
                """)
    }

    @Test func `a change that no closure mentions`() {
        let text = failure { loop in
            try loop.expectStart("timer")
            try loop.send(.aim("north", 1))
        }
        #expect(
            text == """
                send(aim("north", 1)): the state has changed, and no closure says how (- before, + after)
                + cameras["north"]: 1 (inserted)
                """)
    }

    @Test func `effects that were not asserted, before the next event`() {
        let text = failure { loop in
            try loop.expectStart("timer")
            try loop.send(.next) { $0.colour = .green }
            try loop.send(.next) { $0.colour = .yellow }
        }
        #expect(
            text == """
                send(next): before it, this has happened and was not asserted:
                0.0 seconds, seq 1: effect "timer" for red was cancelled (expectCancel)
                0.0 seconds, seq 1: effect "timer" for green started (expectStart)
                """)
    }

    @Test func `effects that were not asserted, at the end`() {
        #expect(
            failure { _ in } == """
                TestLoop.run: at the end of the test, this has happened and was not asserted:
                0.0 seconds, seq 0: effect "timer" for red started (expectStart)
                """)
    }

    @Test func `a feedback that there is not`() {
        let text = failure { loop in
            try loop.expectStart("tiemr")
        }
        #expect(
            text == """
                expectStart("tiemr"): there is no feedback named "tiemr"; there are "timer", "camera", "log", "button"
                """)
    }

    @Test func `an effect that comes after an event that is to be asserted first`() {
        struct Chain: LoopDefinition {
            static let name = "chain"
            let initial = 0
            func reduce(into state: inout Int, _ event: Int, _: Transition) { state = event }
            var feedbacks: [Feedback<Int, Int>] {
                [.lensing("next", state: \.early) { (now: Int) in .event(now + 1) }]
            }
        }
        do {
            try TestLoop.run(Chain()) { loop in
                try loop.send(1) { $0 = 1 }
                try loop.expectStart("next", 2)
            }
            Issue.record("nothing failed")
        } catch {
            #expect(
                "\(error)".split(separator: "\n").dropFirst().joined(separator: "\n") == """
                        It has, after an event that is to be asserted first (expectEvent):
                        0.0 seconds, seq 2: effect "next" for 2 started
                        Not asserted yet:
                        0.0 seconds, seq 1: effect "next" for 1 started (expectStart)
                        0.0 seconds, seq 2: event 2 was applied, sent by effect "next" for 1 (expectEvent)
                        0.0 seconds, seq 2: effect "next" for 2 started (expectStart)
                        0.0 seconds, seq 3: event 3 was applied, sent by effect "next" for 2 (expectEvent)
                    """)
        }
    }

    @Test func `another event, or none`() {
        #expect(
            failure { loop in
                try loop.expectStart("timer")
                try loop.expectEvent(.noted)
            } == """
                expectEvent(noted): no event was applied that was not asserted
                Nothing has happened that was not asserted.
                """)
        #expect(
            failure { loop in
                let timer = try loop.expectStart("timer")
                try loop.send(.pause) { $0.isPaused = true }
                try loop.expectCancel(timer)
                try loop.expectStart("log")
                try loop.expectEvent(.picture("a"))
            } == """
                expectEvent(picture("a")): another event was applied (- expected, + happened)
                - picture("a")
                + noted
                0.0 seconds, seq 2: event noted was applied, sent by effect "log" for "paused"
                """)
        #expect(
            failure { try $0.expectRefused(.noted) } == """
                expectRefused(noted): no such event was dropped
                Not asserted yet:
                0.0 seconds, seq 0: effect "timer" for red started (expectStart)
                """)
    }

    @Test func `another outcome, none, and what comes after it`() {
        #expect(
            failure { loop in
                try loop.expectStart("timer")
                try loop.send(.close) { $0.pictures = ["closed"] }
                try loop.expectOutcome(Outcome(text: "closed"))
            } == """
                expectOutcome: it is another outcome (- expected, + happened)
                - exitCode: 0
                + exitCode: 1
                """)
        #expect(
            failure { loop in
                try loop.expectStart("timer")
                try loop.expectOutcome()
            } == """
                expectOutcome(): the loop has not ended
                Nothing has happened that was not asserted.
                """)
        #expect(
            failure { loop in
                try loop.expectStart("timer")
                try loop.send(.close) { $0.pictures = ["closed"] }
            } == """
                TestLoop.run: at the end of the test, this has happened and was not asserted:
                0.0 seconds, seq 1: the loop ended with exit code 1: closed (expectOutcome)
                """)
        #expect(
            failure { loop in
                try loop.expectStart("timer")
                try loop.send(.close) { $0.pictures = ["closed"] }
                try loop.expectOutcome()
                try loop.send(.next)
            } == """
                send(next): the loop has ended (exit code 1): nothing happens any more
                """)
    }

    @Test func `time that nothing waits for, or that goes back`() {
        #expect(
            failure { loop in
                try loop.expectStart("timer")
                try loop.advance()
            } == "advance(): nothing waits for time: no timer, no retry, no rate, no timeout")
        #expect(
            failure { try $0.advance(by: .seconds(-1)) } == "advance(by: -1.0 seconds): time does not go back")
    }

    @Test func `a feedback that does not send by itself`() {
        #expect(
            failure { try $0.send(.next, from: "timer") } == """
                send(next, from: "timer"): "timer" is no custom or input feedback: its effects send, see expectStart
                """)
    }

    @Test func `a custom feedback of a part that is not there`() throws {
        let input = Feedback<Int, Int>.input("input", Input()).optional()
        let reducer = Reducer<Int?, Int> { $0 = $1 == 0 ? nil : $1 }
        try TestLoop.run(initial: nil, reducer: reducer, feedbacks: [input]) { loop in
            let failure = #expect(throws: TestLoopFailure.self) { try loop.send(1, from: "input") }
            #expect(
                failure?.summary
                    == "send(1, from: \"input\"): refused: the state has no part for \"input\" now, and its body does not run"
            )
            try loop.send(2) { $0 = 2 }
            try loop.send(3, from: "input") { $0 = 3 }
            try loop.send(0) { $0 = nil }
            #expect(throws: TestLoopFailure.self) { try loop.send(4, from: "input") }
            #expect(loop.state == nil)
        }
    }

    @Test func `something where nothing was expected`() {
        #expect(
            failure { try $0.expectNothing() } == """
                expectNothing(): this has happened:
                0.0 seconds, seq 0: effect "timer" for red started (expectStart)
                """)
    }

    @Test func `a state that is not as a selective test says`() {
        let text = failure(mode: .selective) { loop in
            try loop.send(.next) { $0.isPaused = true }
        }
        #expect(
            text == """
                send(next): the state is not the expected one (- expected, + happened)
                - isPaused: true
                + isPaused: false
                """)
    }

    @Test func `a loop that does not come to rest`() {
        let reducer = Reducer<Int, Int> { $0 += $1 }
        let feedback = Feedback<Int, Int>.lensing("again", state: \.self) { (_: Int) in .event(1) }
        do {
            try TestLoop.run(initial: 0, reducer: reducer, feedbacks: [feedback]) { _ in }
            Issue.record("nothing failed")
        } catch {
            #expect(
                "\(error)".hasSuffix(
                    "TestLoop.run: the loop does not come to rest: its own effects have sent 20000 events, the last is 1"
                ))
        }
    }

    @Test func `a loop whose test is over`() throws {
        var kept: CrossingLoop?
        try TestLoop.run(Crossing()) { loop in
            try loop.expectStart("timer")
            kept = loop
        }
        do {
            try kept?.send(.next)
            Issue.record("nothing failed")
        } catch {
            #expect(
                "\(error)".hasSuffix(
                    "send(next): the test of this loop is over; everything happens within TestLoop.run"))
        }
    }

    @Test func `what the test throws itself`() {
        #expect(throws: Broken.self) { try TestLoop.run(Crossing()) { _ in throw Broken() } }
    }
}

extension Int {
    fileprivate var early: Int? { self > 0 && self < 3 ? self : nil }
}
