import LoopApp
import LoopView
import Testing

/// The lines of docs/views.md that serve a view.
@Suite struct `The page on views, in a browser` {
    private struct Page: View {
        var store = Store<Int, Int>(initial: 0, reducer: { state, event in state += event })
        var body: [Element] { Widget(viewModel: store) { Text("count \($0.state)") } }
    }

    @Test func `all browsers see one view, or each has its own`() throws {
        let page = Page()
        func print(_ text: String) { #expect(text.hasPrefix("http://127.0.0.1:")) }

        let server = try ViewServer(page)
        print(server.address)

        let personal = try ViewServer(perSession: { Page() })
        print(personal.address)
    }
}
