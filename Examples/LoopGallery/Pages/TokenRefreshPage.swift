package import LoopExamples
package import LoopView

/// The token, the open calls, and the results of the others.
package struct TokenRefreshPage: View {
    let store: Store<TokenRefresh.State, TokenRefresh.Event>

    package init(store: Store<TokenRefresh.State, TokenRefresh.Event>) { self.store = store }

    package var body: [Element] {
        Widget(viewModel: store) { context in
            Heading("One refresh for many")
            switch context.session {
            case .none: Text("No token yet.").tone(.secondary)
            case .refreshing(nil): ProgressBar("Getting a token")
            case .refreshing(let old?): ProgressBar("Getting a token in place of token \(old)").tone(.warning)
            case .valid(let token): Text("Token \(token).").tone(.good)
            }
            Row {
                Button("Ask", action: context.action(for: .ask("/news")))
                Button("Ask five times") { for number in 1...5 { context.send(event: .ask("/page/\(number)")) } }
            }
            List(context.calls.keys.sorted(), id: \.self) { number in
                if let call = context.calls[number] {
                    let what = call.token.map { "out with token \($0)" } ?? "waits for a token"
                    Text("\(number) \(call.path): \(what)")
                }
            }
            Divider()
            for line in context.log { Text(line).tone(.secondary) }
        }
    }
}
