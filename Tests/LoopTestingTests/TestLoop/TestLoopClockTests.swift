import LoopCore
import LoopTesting
import Testing

/// A light that changes every second, as a user would write it.
private struct TrafficLight: LoopDefinition {
    enum State: String, Codable, Sendable { case red, green, yellow }
    enum Event: String, Codable, Sendable { case next }

    static let name = "traffic-light"
    let clock: VirtualClock
    let initial = State.red

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        state = state == .red ? .green : state == .green ? .yellow : .red
    }

    var feedbacks: [Feedback<State, Event>] {
        [State.red, .green, .yellow].map { colour in
            .whenBecomesTrue("when \(colour)", state: { $0 == colour }) { [clock] _ in
                .run { send in
                    try await clock.sleep(for: .seconds(1))
                    try await send(.next)
                }
            }
        }
    }
}

private actor Counter {
    private var count = 0
    func next() -> Int {
        count += 1
        return count
    }
}

@Suite struct `A virtual clock` {
    private func loop(
        _ clock: VirtualClock, _ feedbacks: Feedback<[String], String>...
    ) -> Loop<[String], String> {
        Loop(initial: [], reducer: { $0.append($1) }, feedbacks: feedbacks, clock: clock, seed: 1)
    }

    @Test func `runs a loop with its effects, without a word of async`() {
        let clock = VirtualClock()
        let loop = Loop(TrafficLight(clock: clock), clock: clock)
        #expect(loop.state == .red)
        clock.advance(by: .milliseconds(999))
        #expect(loop.state == .red)
        clock.advance(by: .milliseconds(1))
        #expect(loop.state == .green)
        clock.advance(by: .seconds(3599))
        #expect(loop.seq == Seq(3600) && loop.state == .red)
        #expect(clock.now.offset == .seconds(3600))
    }

    @Test func `gives up on a loop that goes on for ever`() {
        let clock = VirtualClock()
        let loop = Loop(TrafficLight(clock: clock), clock: clock)
        #expect(!clock.run(wakesMax: 10))
        #expect(loop.seq == Seq(10))
        loop.stop()
        #expect(clock.run())
        #expect(clock.sleepersCount == 0)
    }

    @Test func `wakes sleepers each at its moment, and lets each do what it does before the next`() {
        let clock = VirtualClock()
        let times = [3, 1, 2, 1]
        let loop = loop(
            clock,
            .react("sleep", requests: { _ in Dictionary(uniqueKeysWithValues: times.enumerated().map { ($0, $1) }) }) {
                seconds in
                .run { send in
                    try await clock.sleep(for: .seconds(seconds))
                    try await send("\(seconds) at \(clock.now.offset)")
                    try await clock.sleep(for: .milliseconds(1500))
                    try await send("\(seconds) again at \(clock.now.offset)")
                }
            })
        clock.run()
        #expect(
            loop.state == [
                "1 at 1.0 seconds", "1 at 1.0 seconds", "2 at 2.0 seconds", "1 again at 2.5 seconds",
                "1 again at 2.5 seconds", "3 at 3.0 seconds", "2 again at 3.5 seconds", "3 again at 4.5 seconds",
            ])
    }

    @Test func `runs timers of retries and timeouts too, and actors that the effects call`() {
        let clock = VirtualClock()
        let counter = Counter()
        let retry = Retry(attemptsMax: 3, firstDelay: .seconds(1), delayMax: .seconds(9), factor: 2, jitter: 0)
        let loop = loop(
            clock,
            .whenBecomesTrue("fetch", state: { _ in true }) { _ in
                .run { send in
                    let number = await counter.next()
                    try await send("try \(number) at \(clock.now.offset)")
                    if number < 3 { try await clock.sleep(for: .seconds(60)) }
                }
            }
            .retry(retry)
            .timeout(.seconds(5)))
        clock.run()
        #expect(loop.state == ["try 1 at 0.0 seconds", "try 2 at 6.0 seconds", "try 3 at 13.0 seconds"])
    }

    @Test func `cancels sleepers with their effects`() {
        let clock = VirtualClock()
        let loop = loop(
            clock,
            .whenBecomesTrue("wait", state: { $0.isEmpty }) { _ in
                .run { _ in try await clock.sleep(for: .seconds(1)) }
            })
        clock.settle()
        #expect(clock.sleepersCount == 1)
        loop.send("stop")
        #expect(clock.sleepersCount == 0)
        clock.settle()
        #expect(loop.parked.isEmpty)
    }

    @Test func `leaves the task of the test as it is`() async {
        let test = Test.current
        #expect(test != nil)
        let clock = VirtualClock()
        let loop = Loop(TrafficLight(clock: clock), clock: clock)
        clock.advance(by: .seconds(2))
        #expect(loop.state == .yellow)
        #expect(Test.current == test)
        await Task.yield()
        clock.advance(by: .seconds(1))
        #expect(loop.state == .red && Test.current == test && !Task.isCancelled)
    }

    @Test(.timeLimit(.minutes(5))) func `waits for what it does not know, when it is asked to`() async throws {
        let clock = VirtualClock()
        let loop = loop(
            clock,
            .whenBecomesTrue("outside", state: { _ in true }) { _ in
                .run { send in
                    try await clock.sleep(for: .seconds(1))
                    try await send(await Task.detached { "from outside" }.value)
                }
            })
        clock.advance(by: .seconds(1))
        try await clock.settle { loop.state == ["from outside"] }
        #expect(clock.now.offset == .seconds(1))
    }

    @Test func `ends its waiting when the test is cancelled`() async {
        let clock = VirtualClock()
        let waiting = Task { try await clock.settle { false } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
