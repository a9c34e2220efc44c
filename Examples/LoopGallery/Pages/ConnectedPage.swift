internal import LoopView

/// A page over a loop in another process: the status of the connection, and the page.
struct ConnectedPage<State: Sendable, Event: Sendable, Page: View>: View {
    let store: Store<State, Event>
    let page: Page

    var body: [Element] {
        switch store.connection {
        case .local, .live, .behind: Group { page }
        case .connecting: Text("waiting for the reducer …").tone(.secondary)
        case .ended(let text):
            Text(text.isEmpty ? "the loop has ended" : "the loop has ended: \(text)").tone(.warning)
            page
        }
        if let problem = store.problem { Text("\(problem)").tone(.bad) }
    }
}
