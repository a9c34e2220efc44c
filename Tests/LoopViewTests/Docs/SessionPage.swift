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
