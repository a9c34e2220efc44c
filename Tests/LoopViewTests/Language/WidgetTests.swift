import LoopCore
import LoopView
import Testing

@Suite struct `Widgets` {
    @Test func `a widget shows its store's state whenever it is asked`() throws {
        let store = Counter.store()
        let widget = Widget(viewModel: store) { context in
            Text("\(context.count) of \(context.doubled)")
            Button("More", action: context.action(for: .add(1)))
        }
        #expect(widget.plainText() == "0 of 0\n[ More ]")
        let tree = ViewTree(widget)
        tree.perform(.press(try #require(tree.button("More"))))
        #expect(widget.plainText() == "1 of 2\n[ More ]")
    }

    @Test func `IfLetWidget shows what is there, or something else`() throws {
        let store = Counter.store()
        let part = store.scoped(to: \.part, event: Counter.Event.part)
        let widget = IfLetWidget(viewModel: part) { context in
            Text("\(context.title), \(context.visits) visits")
            Button("Visit", action: context.action(for: .visit))
        } else: {
            Text("closed")
        }
        #expect(widget.plainText() == "closed")
        store.send(event: .open("t"))
        let tree = ViewTree(widget)
        tree.perform(.press(try #require(tree.button("Visit"))))
        #expect(widget.plainText() == "t, 1 visits\n[ Visit ]")
        store.send(event: .close)
        // A press that comes too late does nothing.
        tree.perform(.press(try #require(tree.button("Visit"))))
        #expect(widget.plainText() == "closed")
    }

    private enum Screen: Sendable {
        case first(Int)
        case second(String)
        case third
    }

    private enum ScreenEvent: Sendable {
        case first(Int)
        case second(String)
        case leave
    }

    @Test func `SwitchWidget shows the case in which the state is`() throws {
        let store = Store<Screen, ScreenEvent>(
            initial: .first(1),
            reducer: { state, event in
                switch event {
                case .first(let number): state = .first(number)
                case .second(let text): state = .second(text)
                case .leave: state = .third
                }
            })
        let widget = SwitchWidget(viewModel: store) {
            CaseLetWidget({ if case .first(let number) = $0 { number } else { nil } }, event: ScreenEvent.first) {
                context in
                Text("number \(context.state)")
                Button("Next", action: context.action(for: context.state + 1))
            }
            CaseLetWidget({ if case .second(let text) = $0 { text } else { nil } }) { context in
                Text("text \(context.state)")
                Button("Next", action: context.action(for: .leave))
            }
        }
        let first = ViewTree(widget)
        #expect(first.plainText() == "number 1\n[ Next ]")
        first.perform(.press(try #require(first.button("Next"))))
        #expect(widget.plainText() == "number 2\n[ Next ]")
        store.send(event: .second("t"))
        let second = ViewTree(widget)
        #expect(second.plainText() == "text t\n[ Next ]")
        #expect(second.button("Next") != first.button("Next"))
        second.perform(.press(try #require(second.button("Next"))))
        #expect(widget.plainText() == "")
    }

    @Test func `a case by its path can change its fields, and only while the state is in it`() throws {
        let store = Store<Screen, ScreenEvent>(initial: .second("a"), reducer: { state, _ in state = .third })
        let widget = SwitchWidget(viewModel: store) {
            CaseLetWidget(CasePath(Screen.first), event: CasePath(ScreenEvent.first)) { Text("\($0.state)") }
            CaseLetWidget(CasePath(Screen.second), event: CasePath(ScreenEvent.second)) { context in
                TextField("Text", text: context.binding(for: \.self))
                Button("Leave", action: context.action(for: "x"))
            }
        }
        let tree = ViewTree(widget)
        let field = try #require(tree.field("Text"))
        tree.perform(.write(field, "b"))
        #expect(widget.plainText() == "Text: [b]\n[ Leave ]")
        tree.perform(.press(try #require(tree.button("Leave"))))
        tree.perform(.write(field, "c"))
        #expect(widget.plainText() == "")
    }
}
