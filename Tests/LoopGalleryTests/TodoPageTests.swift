import LoopCore
import LoopExamples
import LoopGallery
import LoopTesting
import LoopView
import Testing

@Suite struct `The page of things to do` {
    private let clock = VirtualClock()
    private let store: Store<Todo.State, Todo.Event>
    private let page: TodoPage

    init() {
        let server = StubItemServer(line: StubLine(latency: .seconds(1), clock: clock))
        store = Store(Loop(Todo(server: server), clock: clock))
        page = TodoPage(store: store)
    }

    private func add(_ title: String) throws {
        let tree = ViewTree(page)
        #expect(tree.perform(.write(try #require(tree.field("New")), title)))
        #expect(tree.perform(.submit(try #require(tree.field("New")))))
    }

    private var list: [String] {
        page.plainText().split(separator: "\n").map(String.init).filter { $0.hasPrefix("-") }
    }

    @Test func `shows what is saved, one item after the other`() throws {
        #expect(page.plainText() == "# Things to do\nNew: [what is to be done]  ( Add )")
        try add("milk")
        try add("bread")
        #expect(
            list == ["- [ ] 1  Title of 1: [milk]  saving …", "- [ ] 2  Title of 2: [bread]  to be saved"])
        clock.advance(by: .seconds(1))
        #expect(list == ["- [ ] 1  Title of 1: [milk]  saved", "- [ ] 2  Title of 2: [bread]  saving …"])
        let tree = ViewTree(page)
        #expect(tree.perform(.press(try #require(tree.toggle("1")))))
        #expect(tree.perform(.write(try #require(tree.field("Title of 1")), "oat milk")))
        #expect(
            list == ["- [x] 1  Title of 1: [oat milk]  to be saved", "- [ ] 2  Title of 2: [bread]  saving …"])
        clock.run()
        #expect(list == ["- [x] 1  Title of 1: [oat milk]  saved", "- [ ] 2  Title of 2: [bread]  saved"])
    }

    @Test func `has a button for what was not saved`() throws {
        try add("milk")
        let milk = try #require(store.state.rows.first?.item)
        store.send(event: .syncFailed(milk, "no answer"))
        #expect(list == ["- [ ] 1  Title of 1: [milk]  not saved: no answer"])
        let tree = ViewTree(page)
        #expect(tree.perform(.press(try #require(tree.button("Try again")))))
        #expect(list == ["- [ ] 1  Title of 1: [milk]  saving …"])
    }
}
