import LoopCore
import LoopView

struct SignUp: LoopDefinition {
    struct State: Codable, Equatable, Sendable {
        var name = ""
        var address = Address()
        var isSubmitted = false
    }

    struct Address: Codable, Equatable, Sendable {
        var city = ""
    }

    enum Event: Codable, Equatable, Sendable {
        case rename(String)
        case submit
    }

    static let name = "sign-up"
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .rename(let name): state.name = name
        case .submit: state.isSubmitted = true
        }
    }

    var feedbacks: [Feedback<State, Event>] { [] }
}
