package import LoopCore

/// A number that goes up and down: a state, events and a reducer, without effects.
package struct Counter: LoopDefinition {
    package struct State: Codable, Equatable, Sendable {
        package var count = 0
    }

    package enum Event: Codable, Equatable, Sendable {
        case increment, decrement, reset

        private enum CodingKeys: CodingKey, CaseIterable { case increment, decrement, reset }
    }

    package static let examples: [Event] = [.increment, .decrement, .reset]

    package static let name = "counter"
    package static let abstract = "A number that goes up and down: the smallest loop there is."

    package var initial = State()

    package init() {}

    package func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .increment: state.count += 1
        case .decrement: state.count -= 1
        case .reset: state.count = 0
        }
    }

    package var feedbacks: [Feedback<State, Event>] { [] }
}
