public import LoopCore
public import ZMQ

/// Runs a body with a handle on a loop that runs elsewhere. When the body ends, throws or is cancelled, the handle is closed:
/// what it has sent is settled then, or reported after `stopLimit`.
///
///     try await withRemoteLoop(Traffic.self, reducer: "tcp://reducer:7710") { loop in
///         for car in cars { try await loop.send(.arrived(car)) }
///     }
///
/// The parameters are those of ``RemoteLoop``.
/// - Returns: what the body returns.
/// - Throws: what the body throws, or `NodeError` if the handle cannot be made.
public nonisolated(nonsending) func withRemoteLoop<Definition: LoopDefinition, Success>(
    _ definition: Definition.Type, reducer: ReducerAddress? = nil, name: String = "",
    updates: StateUpdates = .full, outbox: String? = nil, stopLimit: Duration = .seconds(5),
    connectTimeout: Duration? = nil, context: ZMQContext? = nil,
    log: LogHandler = .standardError,
    _ body: nonisolated(nonsending) (RemoteLoop<Definition>) async throws -> Success
) async throws -> Success {
    let loop = try RemoteLoop(
        definition, reducer: reducer, name: name, updates: updates, outbox: outbox, stopLimit: stopLimit,
        connectTimeout: connectTimeout, context: context, log: log)
    do {
        let result = try await body(loop)
        await loop.close()
        return result
    } catch {
        await loop.close()
        throw error
    }
}
