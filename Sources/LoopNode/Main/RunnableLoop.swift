import Linux
public import LoopCore

/// A loop that the executables can run by its name: its definition, and its command line.
public struct RunnableLoop: Sendable {
    /// The definition's name, which selects the loop on the command line.
    public let name: String
    /// One line for the list of loops in the help text.
    package let abstract: String
    let groups: [OptionGroup]
    let positionals: [any DeclaredOption]
    let runReducer: @Sendable (ParsedArguments, ReducerNodeConfiguration, SignalPipe) async throws -> ReducerEnd
    let tools: JournalTools
    let runWorker: @Sendable (EffectNodeConfiguration, SignalPipe) async throws -> NodeEnd

    /// The closures that make the definition may `await` what it needs, such as a pool of connections, before the node starts.
    /// If they throw, the error is printed, and the program exits with 64 for a `UsageError`, else with 2. SIGTERM or SIGINT
    /// ends the program while it waits for them.
    ///
    /// - Parameters:
    ///   - type: the definition, which names the loop.
    ///   - abstract: one sentence on what the loop does.
    ///   - groups: the loop's own options, besides those of the node.
    ///   - positionals: the loop's own arguments.
    ///   - worker: makes the definition for an effect node, which gets no arguments. Commands that replay a journal use it too.
    ///   - reducer: makes the definition from the command line.
    package init<Definition: LoopDefinition>(
        _ type: Definition.Type, abstract: String, groups: [OptionGroup] = [],
        positionals: [any DeclaredOption] = [],
        worker: @escaping @Sendable () async throws -> Definition,
        reducer: @escaping @Sendable (ParsedArguments) async throws -> Definition
    ) {
        name = Definition.name
        self.abstract = abstract
        self.groups = groups
        self.positionals = positionals
        tools = JournalTools(worker)
        runReducer = { arguments, configuration, signals in
            let stop = StopRequest()
            let watch = try SignalThread(signals) { stop.make() }
            defer { watch.end() }
            let log = NodeLog(name: "reducer \(Definition.name)", configuration.log)
            let maker = DefinitionMaker { try await reducer(arguments) }
            guard let definition = try await maker.definition(until: stop, log) else { return .notStarted }
            let node = try ReducerNode(definition, configuration: configuration)
            stop.onStop { node.stop() }
            let resort = LastResort(log)
            defer { resort.disarm() }
            return try await node.run { end in resort.arm(end.map { $0?.exitCode ?? 0 }) }.map { .ended($0) }
                ?? .stopped
        }
        runWorker = { configuration, signals in
            let stop = StopRequest()
            let watch = try SignalThread(signals) { stop.make() }
            defer { watch.end() }
            let name = configuration.name.isEmpty ? "of \(Definition.name)" : configuration.name
            let log = NodeLog(name: "worker \(name)", configuration.log)
            guard let definition = try await DefinitionMaker(worker).definition(until: stop, log) else {
                return .stopped
            }
            let node = try EffectNode(definition, configuration: configuration)
            stop.onStop { node.stop() }
            let resort = LastResort(log)
            defer { resort.disarm() }
            return try await node.run { end in resort.arm(end.map { _ in 0 }) }
        }
    }

    /// Creates a loop that takes nothing from the command line.
    public init<Definition: LoopDefinition>(_ definition: Definition, abstract: String = "") {
        self.init(Definition.self, abstract: abstract) { definition }
    }

    /// Creates a loop that takes nothing from the command line, and whose definition is made when it is needed.
    public init<Definition: LoopDefinition>(
        _ type: Definition.Type, abstract: String = "", _ make: @escaping @Sendable () async throws -> Definition
    ) {
        self.init(type, abstract: abstract, worker: make, reducer: { _ in try await make() })
    }
}

/// How a reducer's program ended without an error.
enum ReducerEnd: Sendable {
    /// The loop has an outcome.
    case ended(Outcome)
    /// The reducer was stopped after its start.
    case stopped
    /// It was stopped before its definition was made.
    case notStarted
}
