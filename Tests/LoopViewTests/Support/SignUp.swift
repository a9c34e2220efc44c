import LoopCore
import LoopView

/// A loop with registered fields.
struct SignUp: LoopDefinition, RegisteredFields {
    struct State: Codable, Equatable, Sendable {
        var name = ""
        var age = 0
        var share = 0.5
        var wantsNews = false
        var nickname: String?
        var plan = Plan.free
        var address = Address()
        var isSubmitted = false
    }

    struct Address: Codable, Equatable, Sendable {
        var city = ""
    }

    enum Plan: String, Codable, FieldValueConvertible {
        case free
        case paid
    }

    enum Event: Codable, Equatable, Sendable {
        case set(FieldChange)
        case submit
    }

    static let name = "sign-up"
    let initial = State()

    static let fields: Fields<State> = [
        Field("name", \.name), Field("age", \.age), Field("share", \.share), Field("news", \.wantsNews),
        Field("nickname", \.nickname), Field("plan", \.plan), Field("city", \.address.city),
    ]

    static func set(_ change: FieldChange) -> Event { .set(change) }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .set(let change): Self.fields.apply(change, to: &state)
        case .submit: state.isSubmitted = true
        }
    }

    var feedbacks: [Feedback<State, Event>] { [] }
}
