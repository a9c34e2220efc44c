internal import LoopCore
package import LoopExamples
package import LoopView

/// The present child, and a button for the other one.
package struct SwitchPage: View {
    let store: Store<Switch.State, Switch.Event>

    package init(store: Store<Switch.State, Switch.Event>) { self.store = store }

    package var body: [Element] {
        SwitchWidget(viewModel: store) {
            CaseLetWidget(CasePath(Switch.State.light), event: CasePath(Switch.Event.light)) { context in
                Heading("Traffic light")
                Lights(on: context.state)
                Button("Next", action: context.action(for: .next))
            }
            CaseLetWidget(CasePath(Switch.State.stopwatch), event: CasePath(Switch.Event.stopwatch)) { context in
                Heading("Stopwatch")
                Text("\(context.seconds) s").strong()
                Button("Reset", action: context.action(for: .reset))
            }
        }
        Widget(viewModel: store) { context in Button("The other one", action: context.action(for: .flip)) }
    }
}
