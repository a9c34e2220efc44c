package import LoopCore

/// A traffic light: red, green and yellow, each for a second, forever.
///
/// There is one feedback for each colour: "while I am on, wait a second, then request the next". Nothing else connects the
/// timers: the next colour ends the wait of the previous one and begins its own.
package struct TrafficLight: LoopDefinition {
    /// The colour that is on.
    package enum State: String, Codable, CaseIterable, Sendable {
        case red, green, yellow
    }

    package enum Event: String, Codable, Sendable {
        case next
    }

    package static let examples: [Event] = [.next]

    package static let name = "traffic-light"
    package static let abstract = "Red, green, yellow, each for a second, for ever: one feedback for each colour."

    package var initial = State.red
    /// The clock that measures the seconds.
    package let clock: any Clock<Duration>

    package init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch state {
        case .red: state = .green
        case .green: state = .yellow
        case .yellow: state = .red
        }
    }

    /// The timers run in the reducer's process. A restarted reducer finds the colour in its journal and waits for its second again.
    package var feedbacks: [Feedback<State, Event>] {
        [
            .whenBecomesTrue("red", state: { $0 == .red }, effect: nextAfterASecond),
            .whenBecomesTrue("green", state: { $0 == .green }, effect: nextAfterASecond),
            .whenBecomesTrue("yellow", state: { $0 == .yellow }, effect: nextAfterASecond),
        ]
    }

    @Sendable private func nextAfterASecond(_: State) -> Effect<Event> {
        .task { [clock] in
            try await clock.sleep(for: .seconds(1))
            return .next
        }
    }
}
