public import LoopCore
public import LoopOptions

/// A loop that the executables can run by its name: its definition, and what it takes on the command line.
public struct RunnableLoop: Sendable {
    /// The definition's name, which selects the loop on the command line.
    public let name: String
    /// One line for the list of loops in the help text.
    public let abstract: String
    let groups: [OptionGroup]
    let positionals: [any DeclaredPositional]
    let runReducer: @Sendable (ParsedArguments, ReducerNodeConfiguration, SignalWatch) async throws -> Outcome?
    let tools: JournalTools
    let runWorker: @Sendable (EffectNodeConfiguration, SignalWatch) async throws -> NodeEnd

    /// - Parameters:
    ///   - type: the definition, which names the loop.
    ///   - abstract: one sentence on what it does.
    ///   - groups: the loop's own options, besides those of the node.
    ///   - positionals: the loop's own arguments.
    ///   - worker: the definition as an effect node has it, which is given no arguments.
    ///   - reducer: the definition as the command line asks for it.
    public init<Definition: LoopDefinition>(
        _ type: Definition.Type, abstract: String, groups: [OptionGroup] = [],
        positionals: [any DeclaredPositional] = [], worker: @escaping @Sendable () -> Definition,
        reducer: @escaping @Sendable (ParsedArguments) throws -> Definition
    ) {
        name = Definition.name
        self.abstract = abstract
        self.groups = groups
        self.positionals = positionals
        tools = JournalTools(worker)
        runReducer = { arguments, configuration, signals in
            let node = try ReducerNode(try reducer(arguments), configuration: configuration)
            let watch = try SignalThread(signals) { node.stop() }
            defer { watch.end() }
            return try await node.run()
        }
        runWorker = { configuration, signals in
            let node = try EffectNode(worker(), configuration: configuration)
            let watch = try SignalThread(signals) { node.stop() }
            defer { watch.end() }
            return try await node.run()
        }
    }

    /// A loop that takes nothing on the command line.
    public init<Definition: LoopDefinition>(_ definition: Definition, abstract: String = "") {
        self.init(Definition.self, abstract: abstract, worker: { definition }, reducer: { _ in definition })
    }
}
