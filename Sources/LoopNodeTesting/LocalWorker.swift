import LoopCore
public import LoopNode

/// A worker of a ``LocalCluster``, in a thread of its own.
public final class LocalWorker: Sendable {
    /// The name that status reports show.
    public let name: String
    private let node: RunningNode<NodeEnd>
    private let requestStop: @Sendable () -> Void
    private let requestKill: @Sendable () -> Void

    init<Definition: LoopDefinition>(
        _ effects: EffectNode<Definition>, name: String, fail: @escaping @Sendable (any Error) -> Void
    ) {
        self.name = name
        requestStop = { effects.stop() }
        requestKill = { effects.kill() }
        node = RunningNode({ try await effects.run() }, fail: fail)
    }

    /// Ends the worker as `kill -9` ends a process. It hands nothing back and sends nothing, and the reducer detects its silence.
    /// When this returns, its threads and sockets are gone.
    ///
    /// The bodies of its effects are cancelled, because nothing else can end a task from outside. Events that they still send are
    /// refused. Unlike in a killed process, a body that ignores its cancellation continues.
    public func kill() async {
        requestKill()
        await node.goneAfterKill()
    }

    /// Stops the worker as SIGTERM does. It hands its effects back.
    /// - Returns: how it has ended.
    /// - Throws: why it has failed, and `CancellationError`.
    @discardableResult
    public func stop() async throws -> NodeEnd {
        requestStop()
        return try await end
    }

    /// How the worker has ended. Waits until it has.
    /// - Throws: why it has failed or that it was killed, and `CancellationError`.
    public var end: NodeEnd {
        get async throws { try await node.ended().get() }
    }
}
