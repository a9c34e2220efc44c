package import LoopExamples
package import LoopView

/// The position of the ball, and a button for the player who has it.
package struct PlayCatchPage: View {
    let store: Store<PlayCatch.State, PlayCatch.Event>

    package init(store: Store<PlayCatch.State, PlayCatch.Event>) { self.store = store }

    package var body: [Element] {
        Widget(viewModel: store) { context in
            Heading("Play catch")
            switch context.holder {
            case .person: Text("you ●        machine").strong()
            case .machine: Text("you        ● machine").strong()
            }
            Button("Throw", action: context.action(for: .throwToMachine)).disabled(context.holder == .machine)
            Text("Caught: \(context.catches)").tone(.secondary)
        }
    }
}
