import LoopCore
import LoopTesting
import Testing

/// Keys come and go; some of what they ask for takes too long, some sends events by itself.
private struct Restless: LoopDefinition {
    struct State: Codable, Equatable, Sendable {
        var history: [Int] = []
        var keys: [Int: Int] = [:]
        var slow: [Int: Int] { keys.filter { $0.key < 4 } }
        var limited: [Int: Int] { keys.filter { $0.key >= 4 } }
        var count: Int? { history.count % 4 == 3 ? nil : history.count / 4 }
    }

    static let name = "restless"
    let initial = State()
    let clock: VirtualClock?

    /// 0..<8 toggles a key, 10..<18 changes its request; what is above comes from effects.
    func reduce(into state: inout State, _ event: Int, _: Transition) {
        state.history.append(event)
        switch event {
        case 0..<8: state.keys[event] = state.keys[event] == nil ? 0 : nil
        case 10..<18: state.keys[event - 10]? += 1
        case 20..<28: state.keys[event - 20] = nil
        default: break
        }
    }

    var feedbacks: [Feedback<State, Int>] {
        let policy = EffectPolicy(
            retry: .exponential(max: 3), timeout: .seconds(2), concurrency: 2, rate: RateLimit(perSecond: 3))
        return [
            .react("slow", requests: \.slow) { [clock] (_: Int) in
                .run { _ in try await clock?.sleep(for: .seconds(1_000_000)) }
            }
            .policy(policy),
            .react("limited", requests: \.limited) { (request: Int) in .events(30 + request, 40) }.policy(policy)
                .limited(to: 1),
            .react("count", request: \.count) { (count: Int) in count % 2 == 0 ? .event(50) : .none },
            .react("failing", requests: \.slow) { [clock] (_: Int) in
                .run { _ in try await clock?.sleep(for: .seconds(1_000_000)) }
            }
            .policy(policy)
            .failing { (request: Int, _) in request < 2 ? 20 + request : nil },
        ]
    }
}

@Suite struct `TestLoop and Loop` {
    @Test(arguments: 0..<60 as Range<UInt64>)
    func `do the same, step by step, whatever comes`(seed: UInt64) throws {
        let clock = VirtualClock()
        let loop = Loop(Restless(clock: clock), clock: clock, seed: seed)
        var random = SeededRandom(seed: seed)
        try TestLoop.run(Restless(clock: nil), mode: .selective, seed: seed) { test in
            for _ in 0..<60 {
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let pause = Duration.milliseconds(Int.random(in: 1..<3000, using: &random))
                    clock.advance(by: pause)
                    try test.advance(by: pause)
                case 1:
                    let event = 10 + Int.random(in: 0..<8, using: &random)
                    loop.send(event)
                    try test.send(event)
                default:
                    let event = Int.random(in: 0..<8, using: &random)
                    loop.send(event)
                    try test.send(event)
                }
                try #require(test.state == loop.state)
                try #require(test.seq == loop.seq)
                try #require(test.parked == loop.parked)
            }
            #expect(loop.state.history.count > 40)
        }
        loop.stop()
        clock.run()
    }
}
