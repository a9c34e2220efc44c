package import LoopCore

/// Either a traffic light or a stopwatch: two loops, of which only one exists at a time.
///
/// The state is an enum with a case for each child. The children's reducers and feedbacks are connected by case paths, and
/// know neither each other nor the parent. When the state leaves a case, its timers are cancelled, and their unreduced
/// events are dropped. When it enters a case again, the child starts from its initial state.
package struct Switch: LoopDefinition {
    package enum State: Codable, Equatable, Sendable {
        case light(TrafficLight.State)
        case stopwatch(Stopwatch.State)

        private enum CodingKeys: CodingKey, CaseIterable { case light, stopwatch }
    }

    package enum Event: Codable, Equatable, Sendable {
        case light(TrafficLight.Event)
        case stopwatch(Stopwatch.Event)
        /// The user switches to the other child.
        case flip

        private enum CodingKeys: CodingKey, CaseIterable { case light, stopwatch, flip }
    }

    package static let examples: [Event] =
        TrafficLight.examples.map(Event.light) + Stopwatch.examples.map(Event.stopwatch) + [.flip]

    package static let name = "switch"
    package static let abstract = "A traffic light or a stopwatch, one at a time; leaving one cancels its timers."

    package var initial: State
    private let light: TrafficLight
    private let stopwatch: Stopwatch

    package init(clock: any Clock<Duration> = ContinuousClock()) {
        light = TrafficLight(clock: clock)
        stopwatch = Stopwatch(clock: clock)
        initial = .light(light.initial)
    }

    package func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        reducer(&state, event, transition)
    }

    private var reducer: Reducer<State, Event> {
        .combine(
            Reducer(light).pullback(value: CasePath(State.light), event: CasePath(Event.light)),
            Reducer(stopwatch).pullback(value: CasePath(State.stopwatch), event: CasePath(Event.stopwatch)),
            Reducer { [light, stopwatch] state, event in
                guard event == .flip else { return }
                switch state {
                case .light: state = .stopwatch(stopwatch.initial)
                case .stopwatch: state = .light(light.initial)
                }
            })
    }

    package var feedbacks: [Feedback<State, Event>] {
        light.feedbacks.pullback(value: CasePath(State.light), event: CasePath(Event.light))
            + stopwatch.feedbacks.pullback(value: CasePath(State.stopwatch), event: CasePath(Event.stopwatch))
    }
}
