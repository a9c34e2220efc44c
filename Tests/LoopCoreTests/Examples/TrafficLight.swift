import LoopCore
import TestClocks
import Testing

/// A light that changes every second: three feedbacks, each "in my colour, after a second, next".
private struct TrafficLight: LoopDefinition {
    enum State: String, Codable, Sendable { case red, green, yellow }
    enum Event: String, Codable, Sendable { case next }

    static let name = "traffic-light"
    let clock: PoolClock
    let initial = State.red

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch state {
        case .red: state = .green
        case .green: state = .yellow
        case .yellow: state = .red
        }
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

@Suite struct `Traffic light` {
    @Test func `the light changes every second, in its order`() async {
        let clock = PoolClock()
        let loop = Loop(TrafficLight(clock: clock), clock: clock)
        var states = loop.states.makeAsyncIterator()
        #expect(await states.next() == .red)
        var second = 0
        for expected: TrafficLight.State in [.green, .yellow, .red, .green, .yellow, .red] {
            second += 1
            await clock.advance(toSleeperAt: .seconds(second))
            #expect(await states.next() == expected)
        }
        loop.stop()
        #expect(await states.next() == nil)
    }
}
