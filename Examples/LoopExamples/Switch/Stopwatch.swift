public import LoopCore

/// Counts seconds while it is shown.
public struct Stopwatch: LoopDefinition {
    public struct State: Codable, Equatable, Sendable {
        public var seconds = 0
    }

    public enum Event: Codable, Equatable, Sendable {
        case tick, reset
    }

    public static let examples: [Event] = [.tick, .reset]

    public static let name = "stopwatch"

    public var initial = State()
    /// The clock that measures the seconds.
    public let clock: any Clock<Duration>

    public init(clock: any Clock<Duration> = ContinuousClock()) { self.clock = clock }

    public func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .tick: state.seconds += 1
        case .reset: state.seconds = 0
        }
    }

    /// Each second requests the next one.
    public var feedbacks: [Feedback<State, Event>] {
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
