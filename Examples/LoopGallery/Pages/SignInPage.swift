package import LoopExamples
package import LoopView

/// The form, and the check of the name.
package struct SignInPage: View {
    let store: Store<SignIn.State, SignIn.Event>

    package init(store: Store<SignIn.State, SignIn.Event>) { self.store = store }

    package var body: [Element] {
        Widget(viewModel: store) { context in
            Heading("Sign in")
            if context.status == .signedIn {
                Text("Hello, \(context.userName).").tone(.good)
            } else {
                Group {
                    TextField(
                        "User name", text: context.binding(for: \.userName, event: { .typeName($0) }),
                        prompt: "not ada, grace or edsger", onSubmit: context.action(for: .submit))
                    check(context.check, of: context.userName)
                    Toggle(
                        "I accept the terms",
                        isOn: context.binding(for: \.hasAcceptedTerms, event: { .acceptTerms($0) }))
                }
                .disabled(context.status == .submitting)
                if case .failed(let reason) = context.status { Text("Not signed in: \(reason)").tone(.bad) }
                if context.status == .submitting {
                    ProgressBar("Signing in")
                } else {
                    Button("Sign in", action: context.action(for: .submit)).disabled(!context.state.canSubmit)
                }
            }
        }
    }

    @ViewBuilder private func check(_ check: SignIn.Check, of name: String) -> [Element] {
        switch check {
        case .none: Text("Any name that is free.").tone(.secondary)
        case .typing: Text("…").tone(.secondary)
        case .asking: ProgressBar("Asking for \(name)")
        case .free: Text("\(name) is free.").tone(.good)
        case .taken: Text("\(name) is taken.").tone(.bad)
        case .failed(let reason): Text("It could not be checked: \(reason)").tone(.bad)
        }
    }
}
