import LoopNode

/// A running node, and how it has ended.
final class RunningNode<End: Sendable>: Sendable {
    private let ending: AwaitedValue<Result<End, any Error>>
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - run: runs the node.
    ///   - fail: called with the error that the node has thrown, unless it was killed.
    init(_ run: @escaping @Sendable () async throws -> End, fail: @escaping @Sendable (any Error) -> Void) {
        let ending = AwaitedValue<Result<End, any Error>>()
        self.ending = ending
        // Not a child task, because the node runs until it is killed or stopped, whichever task has started it.
        task = Task {
            do {
                ending.set(.success(try await run()))
            } catch {
                ending.set(.failure(error))
                if !(error is NodeKilled) { fail(error) }
            }
        }
    }

    /// How it has ended, or nil while it runs.
    var end: Result<End, any Error>? { ending.value }

    /// Waits until the node's threads are gone.
    /// - Throws: `CancellationError` if the task was cancelled before.
    func ended() async throws -> Result<End, any Error> {
        guard let end = await ending.getUnlessCancelled() else { throw CancellationError() }
        return end
    }

    /// Waits until the node's threads are gone, also in a cancelled task, because a kill must not leave threads behind.
    func goneAfterKill() async { await task.value }
}
