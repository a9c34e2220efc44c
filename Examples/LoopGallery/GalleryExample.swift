internal import LoopApp
package import LoopCore
internal import LoopNode
package import LoopView

/// One example: its definition, its page, and the server that it uses.
package struct GalleryExample: Sendable {
    /// The name of the loop and of the example.
    package let name: String
    /// A sentence about what it demonstrates.
    package let abstract: String
    /// The server that it uses, or nil if it needs none.
    package let service: StubServer.Service?
    /// Makes the page over a local loop, for a server's address.
    let local: @Sendable (_ server: String) -> Group
    /// Makes the page over the loop of a reducer.
    let remote: @Sendable (_ reducer: ReducerAddress, _ server: String, _ log: LogHandler) throws -> Group

    /// - Parameters:
    ///   - abstract: a sentence about what it demonstrates.
    ///   - server: the service that the example needs, or nil if it needs none.
    ///   - definition: makes the definition for a server's address, which ends with a slash; or is empty if it needs none.
    ///   - page: makes the page of a store.
    package init<Definition: LoopDefinition, Page: View>(
        _ type: Definition.Type, abstract: String, server: StubServer.Service? = nil,
        definition: @escaping @Sendable (_ server: String) -> Definition,
        page: @escaping @Sendable (Store<Definition.State, Definition.Event>) -> Page
    ) {
        name = Definition.name
        self.abstract = abstract
        service = server
        local = { server in
            let page = page(Store(definition(server)))
            return Group { page }
        }
        remote = { reducer, server, log in
            let loop = try RemoteLoop(Definition.self, reducer: reducer, name: "loop-example", log: log)
            let store = Store(loop, showing: definition(server).initial)
            let page = page(store)
            return Group { ConnectedPage(store: store, page: page) }
        }
    }

    /// The command-line arguments of its reducer.
    func reducerArguments(server: String) -> [String] { service == nil ? [] : [server] }
}

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
