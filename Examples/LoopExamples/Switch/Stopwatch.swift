package import LoopCore

/// Counts seconds while it is shown.
package struct Stopwatch: LoopDefinition {
    package struct State: Codable, Equatable, Sendable {
        package var seconds = 0
    }

    package enum Event: Codable, Equatable, Sendable {
        case tick, reset

        private enum CodingKeys: CodingKey, CaseIterable { case tick, reset }
    }

    package static let examples: [Event] = [.tick, .reset]

    package static let name = "stopwatch"

    package var initial = State()
    /// The clock that measures the seconds.
    package let clock: any Clock<Duration>

    package init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .tick: state.seconds += 1
        case .reset: state.seconds = 0
        }
    }

    /// Each second requests the next one.
    package var feedbacks: [Feedback<State, Event>] {
        [
            .react("second", request: \.seconds) { [clock] (_: Int) in
                .task {
                    try await clock.sleep(for: .seconds(1))
                    return .tick
                }
            }
        ]
    }
}
