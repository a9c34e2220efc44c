import LoopCore
import LoopTesting
import Testing

@Suite struct `A loop under test` {
    private let exact = Retry(
        attemptsMax: 3, firstDelay: .seconds(1), delayMax: .seconds(60), factor: 2, jitter: 0)

    @Test func `events change the state, and effects follow it`() throws {
        try TestLoop.run(Crossing()) { loop in
            let red = try loop.expectStart("timer", Crossing.Colour.red)
            try loop.advance(by: .seconds(1))
            try red.send(.next) { $0.colour = .green }
            try loop.expectCancel(red)
            let green = try loop.expectStart("timer", Crossing.Colour.green)
            try green.complete()
            #expect(loop.state.colour == .green && loop.seq == Seq(1) && loop.time == .seconds(1))
            #expect(!red.isRunning && !green.isRunning && loop.effects("timer").isEmpty)
        }
    }

    @Test func `an effect that only sends events sends them by itself`() throws {
        try TestLoop.run(Crossing()) { loop in
            let timer = try loop.expectStart("timer")
            try loop.send(.pause) { $0.isPaused = true }
            try loop.expectCancel(timer)
            try loop.expectStart("log", "paused")
            try loop.expectEvent(.noted) { $0.notes = 1 }
        }
    }

    @Test func `a keyed effect hears of newer requests`() throws {
        try TestLoop.run(Crossing()) { loop in
            try loop.expectStart("timer", Crossing.Colour.red)
            try loop.send(.aim("north", 10)) { $0.cameras["north"] = 10 }
            let camera = try loop.expectStart("camera", where: { (angle: Int) in angle == 10 })
            try loop.send(.aim("north", 20)) { $0.cameras["north"] = 20 }
            try loop.expectUpdate(camera, 20)
            #expect(try camera.request(as: Int.self) == 20)
            try camera.complete(sending: .picture("p")) { $0.pictures = ["p"] }
            try loop.send(.aim("north", 30)) { $0.cameras["north"] = 30 }
            // The effect has completed: the newer request updates nothing, and its end cancels nothing.
            try loop.send(.remove("north")) { $0.cameras = [:] }
        }
    }

    @Test func `an effect that ends by its last event needs no assertion of its cancellation`() throws {
        try TestLoop.run(Crossing()) { loop in
            let red = try loop.expectStart("timer")
            try red.complete(sending: .next) { $0.colour = .green }
            try loop.expectStart("timer", Crossing.Colour.green)
        }
    }

    @Test func `what a cancelled effect sends is refused`() throws {
        try TestLoop.run(Crossing()) { loop in
            let red = try loop.expectStart("timer")
            try loop.send(.next) { $0.colour = .green }
            try loop.expectCancel(red)
            try loop.expectStart("timer")
            try red.send(.next, refused: .stale)
        }
    }

    @Test func `queued events of a cancelled effect are dropped`() throws {
        let belowTwo = { @Sendable (sum: Int) in sum < 2 ? sum : nil }
        let feedback = Feedback<Int, Int>.react("thrice", request: belowTwo) { _ in .events(1, 2, 3) }
        let reducer = Reducer<Int, Int> { $0 += $1 }
        try TestLoop.run(initial: 0, reducer: reducer, feedbacks: [feedback]) { loop in
            try loop.expectStart("thrice", 0)
            try loop.expectEvent(1) { $0 = 1 }
            try loop.expectRefused(2)
            try loop.expectRefused(3)
            try loop.expectStart("thrice", 1)
            try loop.expectEvent(1) { $0 = 2 }
            try loop.expectRefused(2)
            try loop.expectRefused(3)
            try loop.expectNothing()
        }
    }

    @Test func `a failed effect is tried again after growing delays and then parked`() throws {
        try TestLoop.run(Crossing(timer: EffectPolicy(retry: exact))) { loop in
            let timer = try loop.expectStart("timer")
            try timer.fail(Broken())
            #expect(timer.isWaiting && !timer.isRunning)
            try timer.send(.next, refused: .attempt)
            try loop.advance(by: .milliseconds(999))
            try loop.advance(by: .milliseconds(1))
            try loop.expectStart(timer)
            #expect(timer.failures == 1)
            try timer.fail(Broken())
            #expect(try loop.advance() == .seconds(2))
            try loop.expectStart(timer)
            try timer.fail(Broken())
            try loop.expectParked(timer)
            #expect(loop.parked.map(\.feedback) == ["timer"])
            try timer.retryParked()
            try loop.expectStart(timer)
            #expect(timer.failures == 0)
        }
    }

    @Test func `the other side's wish for a pause is kept, and what cannot help is not tried again`() throws {
        try TestLoop.run(Crossing(timer: EffectPolicy(retry: exact))) { loop in
            let timer = try loop.expectStart("timer")
            try timer.fail(Broken(retryAfter: .seconds(30)))
            #expect(try loop.advance() == .seconds(30))
            try loop.expectStart(timer)
            try timer.fail(Broken(isTransient: false))
            try loop.expectParked(timer)
        }
    }

    @Test func `an attempt that takes too long fails`() throws {
        let policy = EffectPolicy(retry: exact, timeout: .seconds(5))
        try TestLoop.run(Crossing(timer: policy)) { loop in
            let timer = try loop.expectStart("timer")
            try loop.advance(by: .seconds(6))
            try loop.expectTimeout(timer)
            try loop.expectStart(timer)
            // 11 s: too long again; 13 s: the third attempt; 18 s: too long for the last time.
            try loop.run()
            try loop.expectTimeout(timer)
            try loop.expectStart(timer)
            try loop.expectTimeout(timer)
            try loop.expectParked(timer)
            #expect(loop.time == .seconds(18))
        }
    }

    @Test func `a failure can become an event`() throws {
        struct State: Equatable {
            var wanted: String? = "a"
            var failures: [String] = []
        }
        let feedback = Feedback<State, String>.react("fetch", request: \.wanted) { _ in .task { nil } }
            .failing { (wanted: String, error) in "\(wanted) \(error)" }
        let reducer = Reducer<State, String> { state, event in
            state.wanted = nil
            state.failures.append(event)
        }
        try TestLoop.run(initial: State(), reducer: reducer, feedbacks: [feedback]) { loop in
            try loop.expectStart("fetch", "a").fail(Broken())
            try loop.expectEvent("a broken") {
                $0.wanted = nil
                $0.failures = ["a broken"]
            }
        }
    }

    @Test func `effects wait for the limits of their feedback`() throws {
        try TestLoop.run(Crossing(camera: EffectPolicy(concurrency: 1))) { loop in
            try loop.expectStart("timer")
            try loop.send(.aim("a", 1)) { $0.cameras["a"] = 1 }
            let a = try loop.expectStart("camera", 1)
            try loop.send(.aim("b", 2)) { $0.cameras["b"] = 2 }
            let b = try loop.expectWaiting("camera", 2)
            try loop.send(.aim("b", 3)) { $0.cameras["b"] = 3 }
            try loop.expectUpdate(b, 3)
            #expect(loop.effects("camera").map(\.description) == ["\"camera\" for 1", "\"camera\" for 3"])
            try a.complete()
            try loop.expectStart(b)
            try loop.send(.aim("c", 4)) { $0.cameras["c"] = 4 }
            let c = try loop.expectWaiting("camera")
            try loop.send(.remove("c")) { $0.cameras["c"] = nil }
            try loop.expectCancel(c)
        }
    }

    @Test func `effects start no more often than their rate`() throws {
        try TestLoop.run(Crossing(camera: EffectPolicy(rate: RateLimit(perSecond: 2)))) { loop in
            try loop.expectStart("timer")
            try loop.send(.aim("a", 1)) { $0.cameras["a"] = 1 }
            let a = try loop.expectWaiting("camera", 1)
            try loop.send(.aim("b", 2)) { $0.cameras["b"] = 2 }
            let b = try loop.expectWaiting("camera", 2)
            #expect(try loop.advance() == .milliseconds(500))
            try loop.expectStart(a)
            try loop.advance(by: .milliseconds(500))
            try loop.expectStart(b)
        }
    }

    @Test func `an outcome ends the loop`() throws {
        try TestLoop.run(Crossing()) { loop in
            let timer = try loop.expectStart("timer")
            try loop.send(.close) { $0.pictures = ["closed"] }
            try loop.expectOutcome(Outcome(text: "closed", exitCode: 1))
            #expect(loop.outcome?.exitCode == 1)
            try timer.send(.next, refused: .ended)
        }
    }

    @Test func `a test speaks for custom and input feedbacks, and answers sources`() throws {
        let source = Feedback<Int, Int>.source("source") { _ in }
        let input = Feedback<Int, Int>.input("input", Input())
        let reducer = Reducer<Int, Int> { $0 += $1 }
        try TestLoop.run(initial: 0, reducer: reducer, feedbacks: [source, input]) { loop in
            let source = try loop.expectStart("source")
            try source.send(1) { $0 = 1 }
            try loop.send(2, from: "input") { $0 = 3 }
            try source.complete()
        }
    }

    @Test func `combined feedbacks have their own names`() throws {
        let both = Feedback<Int, Int>.combine(
            .react("a", request: \.self) { (_: Int) in .task { nil } },
            .react("b", request: \.self) { (_: Int) in .task { nil } })
        try TestLoop.run(initial: 0, reducer: Reducer { $0 += $1 }, feedbacks: [both]) { loop in
            try loop.expectStart("a", 0)
            try loop.expectStart("b", 0)
        }
    }

    @Test func `a direct change passes the reducer by`() throws {
        try TestLoop.run(Crossing()) { loop in
            let timer = try loop.expectStart("timer")
            try loop.mutate(keyPath: \.isPaused, value: true)
            try loop.expectCancel(timer)
            // No event: the log, which follows events, does nothing.
            #expect(loop.seq == Seq(1))
        }
    }

    @Test func `without states, a closure says what it is after`() throws {
        try TestLoop.run(Crossing(), mode: .withoutStates) { loop in
            let red = try loop.expectStart("timer")
            try red.complete(sending: .next)
            try loop.expectStart("timer", Crossing.Colour.green)
            try loop.send(.aim("a", 1)) { $0.colour = .green }
            try loop.expectStart("camera", 1)
            try loop.send(.noted) { $0.notes += 1 }
        }
    }

    @Test func `a selective test asserts what it likes, in any order`() throws {
        try TestLoop.run(Crossing(), mode: .selective) { loop in
            try loop.send(.next)
            try loop.send(.pause)
            try loop.send(.aim("a", 1))
            try loop.expectEvent(.noted) { $0.notes = 1 }
            let camera = try loop.expectStart("camera", 1)
            try loop.send(.remove("a"))
            try loop.expectCancel(camera)
            try loop.expectStart("timer", Crossing.Colour.red)
        }
    }

    @Test func `transitions have the time that has passed, and random numbers of the seed`() throws {
        struct Diary: LoopDefinition {
            static let name = "diary"
            let initial: [Int64] = []
            let feedbacks: [Feedback<[Int64], Bool>] = []
            func reduce(into state: inout [Int64], _ event: Bool, _ transition: Transition) {
                var random = transition.random
                state.append(event ? Int64.random(in: 0..<1000, using: &random) : transition.time.milliseconds)
            }
        }
        func diary(seed: UInt64) throws -> [Int64] {
            let wallTime = WallTime(milliseconds: 1_000_000)
            return try TestLoop.run(Diary(), mode: .withoutStates, seed: seed, wallTime: wallTime) { loop in
                try loop.advance(by: .seconds(2))
                try loop.send(false)
                try loop.send(true)
                return loop.state
            }
        }
        let first = try diary(seed: 1)
        #expect(first[0] == 1_002_000)
        #expect(try diary(seed: 1) == first)
        #expect(try diary(seed: 2) != first)
    }

    @Test func `ten thousand effects behind a limit of one are no trouble`() throws {
        struct Many: Sendable, Equatable {
            var sum = 0
            var wanted: [Int: Int] = [:]
        }
        let reducer = Reducer<Many, Int> { state, event in
            if event == 0 { state.wanted = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ($0, $0) }) }
            state.sum += event
        }
        let feedback = Feedback<Many, Int>.react("many", requests: \.wanted) { (_: Int) in .event(1) }.limited(to: 1)
        try TestLoop.run(initial: Many(), reducer: reducer, feedbacks: [feedback], mode: .selective) { loop in
            try loop.send(0)
            #expect(loop.state.sum == 10_000)
        }
    }
}
