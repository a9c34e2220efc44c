package import LoopNode

/// The loops of this project, which `loop-reducer` and `loop-effect` run.
package enum Examples {
    /// All loops, in the order of the help.
    package static let all = [
        RunnableLoop(
            LinkCheck.self, abstract: LinkCheck.abstract, groups: LinkCheck.options, positionals: [LinkCheck.site],
            worker: { LinkCheck() }, reducer: { LinkCheck($0) }),
        RunnableLoop(
            Ledger.self, abstract: Ledger.abstract, positionals: [Ledger.pages], worker: { Ledger() },
            reducer: { Ledger($0) }),
        RunnableLoop(
            Movies.self, abstract: Movies.abstract, positionals: [ServerAddress.positional], worker: { Movies() },
            reducer: { Movies(server: $0[ServerAddress.positional]) }),
        RunnableLoop(
            Favourites.self, abstract: Favourites.abstract, positionals: [ServerAddress.positional],
            worker: { Favourites() }, reducer: { Favourites(server: $0[ServerAddress.positional]) }),
        RunnableLoop(Counter(), abstract: Counter.abstract),
        RunnableLoop(SignIn(), abstract: SignIn.abstract),
        RunnableLoop(TrafficLight(), abstract: TrafficLight.abstract),
        RunnableLoop(Switch(), abstract: Switch.abstract),
        RunnableLoop(Todo(), abstract: Todo.abstract),
        RunnableLoop(TokenRefresh(), abstract: TokenRefresh.abstract),
        RunnableLoop(Conform(), abstract: Conform.abstract),
    ]
}

/// The argument of examples that use a server: its address.
package enum ServerAddress {
    /// The root URL of the server's documents, with its closing slash.
    package static let positional = Option(
        positional: "SERVER", .site, help: "the http or https URL of the examples' server, as loop-example starts one")
}
