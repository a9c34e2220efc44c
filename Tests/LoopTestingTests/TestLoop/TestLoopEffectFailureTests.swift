import LoopCore
import LoopTesting
import Testing

/// The whole text of each kind of failure that concerns one effect.
@Suite struct `What TestLoop says of an effect` {
    @Test func `an effect for another request`() {
        let text = failure { loop in
            try loop.expectStart("timer", Crossing.Colour.green)
        }
        #expect(
            text == """
                expectStart("timer", green): no such effect has started
                Another one of "timer" was (- expected, + happened):
                  - green
                  + red
                Not asserted yet:
                0.0 seconds, seq 0: effect "timer" for red started (expectStart)
                """)
    }

    @Test func `a request of another type`() {
        let text = failure { loop in
            try loop.expectStart("timer", "red")
        }
        #expect(
            text == """
                expectStart("timer", "red"): no such effect has started
                Another one of "timer" was (- expected, + happened):
                  - "red" (String)
                  + red (Colour)
                Not asserted yet:
                0.0 seconds, seq 0: effect "timer" for red started (expectStart)
                """)
    }

    @Test func `an effect that was asserted already`() {
        let text = failure { loop in
            try loop.expectStart("timer").complete()
            try loop.expectStart("timer", Crossing.Colour.red)
        }
        #expect(
            text == """
                expectStart("timer", red): no such effect has started
                The effect "timer" for red was asserted already: it has completed at 0.0 seconds, seq 0.
                Nothing has happened that was not asserted.
                """)
    }

    @Test func `an effect that waits in place of starting`() {
        let text = failure(Crossing(camera: EffectPolicy(concurrency: 1))) { loop in
            try loop.expectStart("timer")
            try loop.send(.aim("a", 1)) { $0.cameras["a"] = 1 }
            try loop.expectStart("camera", 1)
            try loop.send(.aim("b", 2)) { $0.cameras["b"] = 2 }
            try loop.expectStart("camera", 2)
        }
        #expect(
            text == """
                expectStart("camera", 2): no such effect has started
                The effect "camera" for 2 waits for the limits of its feedback.
                Not asserted yet:
                0.0 seconds, seq 2: effect "camera" for 2 waits for the limits of its feedback (expectWaiting)
                """)
    }

    @Test func `an event of a cancelled effect`() {
        let text = failure { loop in
            let red = try loop.expectStart("timer")
            try loop.advance(by: .milliseconds(1500))
            try loop.send(.next) { $0.colour = .green }
            try loop.expectCancel(red)
            try loop.expectStart("timer")
            try red.send(.next) { $0.colour = .yellow }
        }
        #expect(
            text == """
                timer.send(next): refused: the effect is no longer live
                The effect "timer" for red was cancelled at 1.5 seconds, seq 1. A test that means it says send(_:refused:).
                """)
    }

    @Test func `an event that was to be refused, and an other reason`() {
        #expect(
            failure { loop in
                try loop.expectStart("timer").send(.next, refused: .stale)
            } == """
                timer.send(next, refused: .stale): the event was applied: the effect was cancelled at 0.0 seconds, seq 1
                """)
        #expect(
            failure(Crossing(timer: EffectPolicy(retry: .exponential(max: 2)))) { loop in
                let timer = try loop.expectStart("timer")
                try timer.fail(Broken())
                try timer.send(.next, refused: .stale)
            } == """
                timer.send(next, refused: .stale): the reason is another one, .attempt: the effect has failed (broken) at 0.0 \
                seconds, seq 0 and waits to be tried again
                """)
    }

    @Test func `an answer of an effect that does not run`() {
        let text = failure { loop in
            let red = try loop.expectStart("timer")
            try red.complete()
            try red.fail(Broken())
        }
        #expect(
            text == """
                timer.fail(broken): the effect does not run
                It has completed at 0.0 seconds, seq 0.
                """)
    }

    @Test func `an effect that was not cancelled`() {
        let text = failure { loop in
            let red = try loop.expectStart("timer")
            try loop.expectCancel(red)
        }
        #expect(
            text == """
                expectCancel("timer" for red): the effect was not cancelled
                It runs since 0.0 seconds, seq 0.
                Nothing has happened that was not asserted.
                """)
    }

    @Test func `something else happened to the effect first`() {
        let text = failure(Crossing(timer: EffectPolicy(timeout: .seconds(1)))) { loop in
            let timer = try loop.expectStart("timer")
            try loop.run()
            try loop.expectParked(timer)
        }
        #expect(
            text == """
                expectParked("timer" for red): the effect is not parked
                Before that:
                1.0 seconds, seq 0: effect "timer" for red timed out (expectTimeout)
                Not asserted yet:
                1.0 seconds, seq 0: effect "timer" for red timed out (expectTimeout)
                1.0 seconds, seq 0: effect "timer" for red was parked (no end within 1.0 seconds) (expectParked)
                """)
    }

    @Test func `another newer request`() {
        let text = failure { loop in
            try loop.expectStart("timer")
            try loop.send(.aim("a", 1)) { $0.cameras["a"] = 1 }
            let camera = try loop.expectStart("camera")
            try loop.send(.aim("a", 2)) { $0.cameras["a"] = 2 }
            try loop.expectUpdate(camera, 3)
        }
        #expect(
            text == """
                expectUpdate("camera" for 2, 3): it is another request (- expected, + happened)
                - 3
                + 2
                """)
    }
}
