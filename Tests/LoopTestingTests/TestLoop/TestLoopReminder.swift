import LoopCore
import LoopTesting
import Testing

/// Reminds after a minute, unless it is stopped before.
private struct Reminder: LoopDefinition {
    enum State: Codable {
        case idle, waiting, reminded
        var isWaiting: Bool { self == .waiting }
    }

    enum Event: Codable { case start, stop, minuteIsOver }

    static let name = "reminder"
    let initial = State.idle
    let clock: any Clock<Duration>

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .start: state = .waiting
        case .stop: state = .idle
        case .minuteIsOver: state = .reminded
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .whenBecomesTrue("wait", state: \.isWaiting) { [clock] _ in
                .task {
                    try await clock.sleep(for: .seconds(60))
                    return .minuteIsOver
                }
            }
        ]
    }
}

@Test func `the reminder comes a minute after it was started last`() {
    let clock = VirtualClock()
    let loop = Loop(Reminder(clock: clock), clock: clock)
    loop.send(.start)
    clock.advance(by: .seconds(59))
    loop.send(.stop)
    loop.send(.start)
    clock.advance(by: .seconds(59))
    #expect(loop.state == .waiting)
    clock.advance(by: .seconds(1))
    #expect(loop.state == .reminded)
}
