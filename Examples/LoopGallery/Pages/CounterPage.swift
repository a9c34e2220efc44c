package import LoopExamples
package import LoopView

/// The number, with its buttons.
package struct CounterPage: View {
    let store: Store<Counter.State, Counter.Event>

    package init(store: Store<Counter.State, Counter.Event>) { self.store = store }

    package var body: [Element] {
        Widget(viewModel: store) { context in CountedNumber(context: context) }
    }
}

/// A counter by itself, or as a part of another page.
struct CountedNumber: View {
    let context: Context<Counter.State, Counter.Event>

    var body: [Element] {
        Heading("Counter")
        Row {
            Button("-", action: context.action(for: .decrement))
            Text(context.count).strong()
            Button("+", action: context.action(for: .increment))
            Button("Reset", action: context.action(for: .reset)).disabled(context.count == 0)
        }
    }
}
