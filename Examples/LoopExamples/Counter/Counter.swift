public import LoopCore

/// A number that goes up and down: a state, events and a reducer, without effects.
public struct Counter: LoopDefinition {
    public struct State: Codable, Equatable, Sendable {
        public var count = 0
    }

    public enum Event: Codable, Equatable, Sendable {
        case increment, decrement, reset
    }

    public static let examples: [Event] = [.increment, .decrement, .reset]

    public static let name = "counter"
    public static let abstract = "A number that goes up and down: the smallest loop there is."

    public var initial = State()

    public init() {}

    public func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .increment: state.count += 1
        case .decrement: state.count -= 1
        case .reset: state.count = 0
        }
    }

    public var feedbacks: [Feedback<State, Event>] { [] }
}
