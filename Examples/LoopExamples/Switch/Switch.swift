package import LoopCore

/// Either a traffic light or a counter: two loops, of which only one exists at a time.
///
/// The state is an enum with a case for each child. The children's reducers and feedbacks are connected by case paths, and
/// know neither each other nor the parent. When the state leaves the light, its timer is cancelled, and its unreduced
/// events are dropped. When it enters a case again, the child starts from its initial state.
package struct Switch: LoopDefinition {
    package enum State: Codable, Equatable, Sendable {
        case light(TrafficLight.State)
        case counter(Counter.State)

        private enum CodingKeys: CodingKey, CaseIterable { case light, counter }
    }

    package enum Event: Codable, Equatable, Sendable {
        case light(TrafficLight.Event)
        case counter(Counter.Event)
        /// The user switches to the other child.
        case flip

        private enum CodingKeys: CodingKey, CaseIterable { case light, counter, flip }
    }

    package static let examples: [Event] =
        TrafficLight.examples.map(Event.light) + Counter.examples.map(Event.counter) + [.flip]

    package static let name = "switch"
    package static let abstract = "A traffic light or a counter, one at a time; leaving the light cancels its timer."

    package var initial: State
    private let light: TrafficLight
    private let counter = Counter()

    package init(clock: any Clock<Duration> = ContinuousClock()) {
        light = TrafficLight(clock: clock)
        initial = .light(light.initial)
    }

    package func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        reducer(&state, event, transition)
    }

    private var reducer: Reducer<State, Event> {
        .combine(
            Reducer(light).pullback(value: CasePath(State.light), event: CasePath(Event.light)),
            Reducer(counter).pullback(value: CasePath(State.counter), event: CasePath(Event.counter)),
            Reducer { [light, counter] state, event in
                guard event == .flip else { return }
                switch state {
                case .light: state = .counter(counter.initial)
                case .counter: state = .light(light.initial)
                }
            })
    }

    package var feedbacks: [Feedback<State, Event>] {
        light.feedbacks.pullback(value: CasePath(State.light), event: CasePath(Event.light))
            + counter.feedbacks.pullback(value: CasePath(State.counter), event: CasePath(Event.counter))
    }
}
