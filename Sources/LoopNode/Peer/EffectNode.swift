import LoopCluster
public import LoopCore
import LoopWire
public import ZMQ

/// How an effect node runs.
public struct EffectNodeConfiguration: Sendable {
    /// The reducer, or nil for ``ReducerAddress/standard``.
    public var reducer: ReducerAddress?
    /// The groups of effects that it serves, or nil for all that the definition places on workers.
    public var groups: [String]?
    /// How many effects it runs at once.
    public var capacity: Int
    /// Whether effects run on the thread of the node's sockets instead of Swift's pool. Then an effect starts, and its event
    /// leaves, without waking another thread. This is for effects that mostly wait: while one computes or blocks, the node
    /// receives nothing. After the silence limit its effects are given to other workers.
    public var runsEffectsOnItsThread = false
    /// A name for people.
    public var name: String
    /// How long a stop waits for the outcomes of everything handed back.
    public var stopLimit = Duration.seconds(5)
    /// How long to wait for the reducer at start, after which `run` throws `NodeError.noAnswer`. If nil, it waits forever. The
    /// log says either way what the node waits for.
    public var connectTimeout: Duration?
    /// Where it answers requests about its health and its metrics over HTTP, or nil for nowhere.
    public var health: HealthEndpoint?
    /// Where it sends the spans of traces, or nil to record none. Contexts go on either way.
    public var traces: TraceExport?
    /// The service manager that is told how it is, or nil for none. The programs set it; a node in another program leaves this to
    /// that program.
    package var serviceManager: ServiceManager?
    /// The context of the sockets, or nil for one of the node's own.
    public var context: ZMQContext?
    /// Receives the events of the log.
    public var log: LogHandler

    /// Creates the configuration of a worker. Without `groups` the worker serves all groups of the definition.
    public init(
        reducer: ReducerAddress? = nil, groups: [String]? = nil, capacity: Int = 16, name: String = "",
        context: ZMQContext? = nil, log: LogHandler = .standardError
    ) {
        self.reducer = reducer
        self.groups = groups
        self.capacity = capacity
        self.name = name
        self.context = context
        self.log = log
    }
}

/// How a node's run ended without an error.
public enum NodeEnd: Equatable, Sendable {
    /// The loop has ended, with this exit code and result.
    case loopEnded(exitCode: Int32, text: String)
    /// It was stopped by a caller.
    case stopped
}

/// A process that runs effects of a loop. There may be any number of them, and they may start before the reducer.
///
///     let end = try await EffectNode(Traffic()).run()
public final class EffectNode<Definition: LoopDefinition>: Sendable {
    private let definition: Definition
    private let configuration: EffectNodeConfiguration
    private let reducer: ReducerAddress
    private let gate: OutboxGate

    /// - Throws: `NodeError.endpoint` if `LOOP_REDUCER` is needed and is not an address, or `NodeError.system` if a
    ///   system call fails.
    public init(
        _ definition: Definition, configuration: EffectNodeConfiguration = EffectNodeConfiguration()
    ) throws(NodeError) {
        self.definition = definition
        self.configuration = configuration
        reducer = try configuration.reducer.orStandard()
        do {
            gate = try OutboxGate(
                capacity: configuration.capacity,
                tracer: configuration.traces.map { Tracer($0, loop: Definition.name, role: "worker") })
        } catch {
            throw .system("\(error)")
        }
    }

    /// Runs until the loop ends, the reducer refuses the node, `stop` is called, or the task is cancelled, which works as
    /// `stop` does: effects are handed back first.
    /// - Throws: `NodeError.refused`, which names both sides.
    public func run() async throws -> NodeEnd { try await run { _ in } }

    /// Runs as `run` does, and calls `onEnd` with the end on the node's own thread.
    func run(onEnd: @escaping @Sendable (Result<NodeEnd, any Error>) -> Void) async throws -> NodeEnd {
        if let mistake = definition.allFeedbacks.firstMistake() { throw NodeError.definition(mistake) }
        let (definition, configuration, reducer, gate) = (definition, configuration, reducer, gate)
        return try await NodeThread.run("loop-effect", stop: { [self] in stop() }, onEnd: onEnd) {
            let now = SystemClock.monotonic
            let fingerprint = DefinitionFingerprint(of: definition)
            let groups = PlacedGroups(placements: definition.allFeedbacks.map(\.placement.group))
            var peer = PeerConfiguration(
                peer: PeerID(high: SystemRandom.uint64(), low: SystemRandom.uint64()), loop: Definition.name,
                schema: UInt64(Definition.schema), fingerprint: fingerprint.value, feedbacks: fingerprint.feedbacks,
                groups: configuration.groups ?? groups.all, capacity: configuration.capacity,
                name: configuration.name)
            peer.places = reducer.each.map(\.description)
            try Self.check(peer)
            let executor = configuration.runsEffectsOnItsThread ? ConnectionExecutor(wakeup: gate.wakeup) : nil
            defer { executor?.end() }
            let effects = DefinitionEffects(definition, coder: CBORCoder(), on: executor)
            let isWatched = configuration.health != nil || configuration.serviceManager != nil
            let board = isWatched ? PeerBoard(loop: Definition.name, wakeup: gate.wakeup, tracer: gate.tracer) : nil
            let driver = PeerDriver(configuration: peer, effects: effects, gate: gate, board: board, at: now)
            let name = configuration.name.isEmpty ? "\(peer.peer)" : configuration.name
            let log = NodeLog(name: "worker \(name)", configuration.log)
            try gate.tracer?.start(log)
            defer { gate.tracer?.stop() }
            let health = try configuration.health.flatMap { endpoint throws(NodeError) in
                try board.map { board throws(NodeError) in try HealthServer(endpoint, board, log) }
            }
            let notice = try configuration.serviceManager.flatMap { manager throws(NodeError) in
                try board.map { board throws(NodeError) in try ServiceNotice(manager, board, log) }
            }
            defer { withExtendedLifetime((health, notice)) {} }
            if let objection = groups.objection(to: peer.groups) {
                log.note(.idle, "this worker serves less than it could: \(objection)", [.reason(objection)])
            }
            var shell = try PeerShell(
                context: configuration.context ?? ZMQContext(), reducer: reducer, driver: driver,
                observer: nil, log: log,
                connectTimeout: configuration.connectTimeout, executor: executor, board: board,
                observed: { _ in .fine })
            return try shell.run(stopLimit: configuration.stopLimit)
        }
    }

    /// Refuses names that a reducer would not read.
    private static func check(_ peer: PeerConfiguration) throws(NodeError) {
        let names = peer.groups.map { ("group", $0, Wire.nameBytesMax) }
        let feedbacks = peer.feedbacks.map { ("feedback, with its placement,", $0, Wire.feedbackBytesMax) }
        for (what, name, bytesMax) in names + feedbacks where name.utf8.count > bytesMax {
            throw .definition(
                "the name of a \(what) has \(name.utf8.count) bytes, and \(bytesMax) is the limit:"
                    + " \(JSONText.onOneLine(name, 60)); give it a shorter name")
        }
    }

    /// Hands all effects back, then ends `run`.
    public func stop() {
        configuration.serviceManager?.tellStopping()
        gate.requestStop()
    }

    /// Ends `run` with `NodeKilled`: nothing is handed back, and the reducer is not informed. Bodies of effects are cancelled,
    /// and what they still send is refused.
    package func kill() { gate.kill() }
}
