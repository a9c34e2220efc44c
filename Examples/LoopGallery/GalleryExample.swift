internal import LoopApp
public import LoopCore
internal import LoopNode
public import LoopView

/// How one example is run: its definition, its page, and the server that it talks to.
public struct GalleryExample: Sendable {
    /// The loop's name, and the example's.
    public let name: String
    /// One sentence on what it shows.
    public let abstract: String
    /// The server that it talks to; nil: it talks to none.
    public let service: StubServer.Service?
    /// The page over a loop of its own in this process, for a server's address.
    let local: @Sendable (_ server: String) -> Group
    /// The page over the loop of a reducer.
    let remote: @Sendable (_ reducer: ReducerAddress, _ server: String, _ log: LogHandler) throws -> Group

    /// - Parameters:
    ///   - abstract: one sentence on what it shows.
    ///   - server: what the example's server has to offer; nil: it needs none.
    ///   - definition: the definition for a server's address, which ends with a slash; empty where it needs none.
    ///   - page: what is shown of a store.
    public init<Definition: LoopDefinition, Page: View>(
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

    /// What its reducer is given on the command line.
    func reducerArguments(server: String) -> [String] { service == nil ? [] : [server] }
}
