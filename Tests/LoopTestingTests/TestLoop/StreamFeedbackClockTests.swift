import LoopCompatibility
import LoopCore
import LoopTesting
import Testing

/// What follows streams runs on the loop's executor and clock, so that the clock knows when it waits.
@Suite struct `Feedbacks of streams on a virtual clock` {
    private func loop(
        _ clock: VirtualClock, _ feedbacks: Feedback<[String], String>...
    ) -> Loop<[String], String> {
        Loop(initial: [], reducer: { $0.append($1) }, feedbacks: feedbacks, clock: clock, seed: 1)
    }

    @Test func `the effects of compacting have run when the clock has settled`() {
        for _ in 0..<200 {
            let clock = VirtualClock()
            let loop = loop(
                clock, .compacting("states", state: { $0.filter { $0.count == 1 } }) { _ in .event("of a state") },
                .compacting("events", events: { $0.filter { $0 == "go" } }) { _ in
                    .run { send in
                        try await clock.sleep(for: .seconds(1))
                        try await send("of an event")
                    }
                })
            loop.send("go")
            clock.settle()
            #expect(loop.state == ["go", "of a state"])
            clock.advance(by: .seconds(1))
            #expect(loop.state == ["go", "of a state", "of an event"])
        }
    }

    @Test func `an effect of compacting that is replaced has been cancelled when the clock has settled`() {
        let clock = VirtualClock()
        let loop = loop(
            clock,
            .compacting("latest", events: { $0.filter { $0.count == 1 } }) { event in
                .run { send in
                    try await clock.sleep(for: .seconds(1))
                    try await send("after \(event)")
                }
            })
        loop.send("a")
        clock.settle()
        #expect(clock.sleepersCount == 1)
        loop.send("b")
        clock.settle()
        #expect(clock.sleepersCount == 1)
        clock.advance(by: .seconds(2))
        #expect(loop.state == ["a", "b", "after b"])
    }

    @Test func `a failure of an effect of compacting has become an event when the clock has settled`() {
        struct Broken: Error {}
        let clock = VirtualClock()
        let loop = loop(
            clock,
            .compacting("fails", events: { $0.filter { $0 == "go" } }) { _ in .run { _ in throw Broken() } }
                .failing { (request: String, _) in "\(request) failed" })
        loop.send("go")
        clock.settle()
        #expect(loop.state == ["go", "go failed"])
    }

    @Test func `events, custom and bind have sent when the clock has settled`() {
        let clock = VirtualClock()
        let loop = loop(
            clock, .events("events") { $0.filter { $0 == ["go"] }.map { _ in "from a stream" } },
            .custom("custom") { transitions, send in
                for await (_, event) in transitions where event == "go" { try? await send("from a body") }
            },
            .bind("bind") {
                Bindings(
                    subscriptions: [{ states in for await state in states where state == ["go"] { return } }],
                    events: [
                        { send in
                            try? await clock.sleep(for: .seconds(1))
                            try? await send("from a binding")
                        }
                    ])
            })
        clock.settle()
        loop.send("go")
        clock.settle()
        #expect(Set(loop.state) == ["go", "from a stream", "from a body"])
        clock.advance(by: .seconds(1))
        #expect(loop.state.last == "from a binding")
    }

    @Test func `an input needs no clock`() {
        let clock = VirtualClock()
        let input = Input<String>()
        let loop = loop(clock, .input("input", input))
        input.send("at once")
        #expect(loop.state == ["at once"])
    }

    @Test func `feedbacks that share a name are numbered, as in a loop`() throws {
        let feedback = Feedback<Int, Int>.middleware("double") { _, event in event == 1 ? .task { 10 } : .none }
        try TestLoop.run(initial: 0, reducer: Reducer { $0 += $1 }, feedbacks: [feedback, feedback]) { loop in
            try loop.send(1) { $0 = 1 }
            let first = try loop.expectStart("double")
            let second = try loop.expectStart("double#2")
            try first.complete()
            try second.complete()
        }
    }
}
