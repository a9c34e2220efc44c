import LoopCore
import LoopView

enum Session: Sendable {
    case signedOut(String)
    case signedIn(User)

    struct User: Equatable, Sendable {
        var name: String
    }

    enum Event: Sendable {
        case type(String)
        case enter
        case leave
    }
}

struct SessionPage: View {
    let store: Store<Session, Session.Event>

    var body: [Element] {
        SwitchWidget(viewModel: store) {
            CaseLetWidget(CasePath(Session.signedOut)) { context in
                TextField("Name", text: context.binding(for: \.self, event: { .type($0) }))
                Button("Sign in", action: context.action(for: .enter)).disabled(context.state.isEmpty)
            }
            CaseLetWidget(CasePath(Session.signedIn)) { context in
                Text("Hello, \(context.name)")
                Button("Sign out", action: context.action(for: .leave))
            }
        }
    }
}

struct Profile: LoopDefinition, RegisteredFields {
    struct State: Codable, Sendable {
        var name = ""
        var wantsNews = false
    }

    enum Event: Codable, Sendable {
        case set(FieldChange)
        case submit
    }

    static let name = "profile"
    static let fields: Fields<State> = [Field("name", \.name), Field("news", \.wantsNews)]
    static func set(_ change: FieldChange) -> Event { .set(change) }
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .set(let change): Self.fields.apply(change, to: &state)
        case .submit: state.name = ""
        }
    }

    var feedbacks: [Feedback<State, Event>] { [] }
}
