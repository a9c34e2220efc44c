package import LoopExamples
package import LoopView

/// The list, with the server's status of each item, and a field for the next one.
package struct TodoPage: View {
    let store: Store<Todo.State, Todo.Event>

    package init(store: Store<Todo.State, Todo.Event>) { self.store = store }

    package var body: [Element] {
        Widget(viewModel: store) { context in
            Heading("Things to do")
            Row {
                TextField(
                    "New", text: context.binding(for: \.draft, event: { .typeTitle($0) }), prompt: "what is to be done",
                    onSubmit: context.action(for: .add))
                Button("Add", action: context.action(for: .add)).disabled(context.draft.isEmpty)
            }
            let current = context.toSync.first?.id
            List(context.rows, id: \.item.id) { row in
                let item = row.item
                Row {
                    Toggle("\(item.id)", isOn: context.binding(of: item.isDone, event: .toggle(item.id)))
                    TextField(
                        "Title of \(item.id)",
                        text: context.binding(of: item.title, event: { .rename(item.id, $0) }))
                    sync(row.sync, isCurrent: item.id == current)
                }
            }
            if context.rows.contains(where: { $0.sync.hasFailed }) {
                Button("Try again", action: context.action(for: .syncAgain))
            }
        }
    }

    @ViewBuilder private func sync(_ sync: Todo.Sync, isCurrent: Bool) -> [Element] {
        switch sync {
        case .waiting: Text(isCurrent ? "saving …" : "to be saved").tone(.secondary)
        case .done: Text("saved").tone(.good)
        case .failed(let reason): Text("not saved: \(reason)").tone(.bad)
        }
    }
}
