import LoopNode

/// A node that runs, and how that has ended.
final class RunningNode<End: Sendable>: Sendable {
    private let fact: Fact<Result<End, any Error>>
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - run: the node's.
    ///   - fail: told what it has thrown, unless it was killed.
    init(_ run: @escaping @Sendable () async throws -> End, fail: @escaping @Sendable (any Error) -> Void) {
        let fact = Fact<Result<End, any Error>>()
        self.fact = fact
        // Not a child: the node runs until it is killed or stopped, whichever task has started it.
        task = Task {
            do {
                fact.set(.success(try await run()))
            } catch {
                fact.set(.failure(error))
                if !(error is NodeKilled) { fail(error) }
            }
        }
    }

    /// How it has ended; nil: it runs.
    var end: Result<End, any Error>? { fact.value }

    /// Waits until its threads are gone.
    /// - Throws: `CancellationError`, where the task was cancelled before.
    func ended() async throws -> Result<End, any Error> {
        guard let end = await fact.wait() else { throw CancellationError() }
        return end
    }

    /// The same, also for a task that was cancelled: it must not leave the threads behind.
    func goneAfterKill() async { await task.value }
}
