import LoopCollections
import LoopCore

/// The body of an attempt, which follows the test's orders and ignores its cancellation.
final class Puppet: Sendable {
    struct Failure: Error {}

    /// The one whose body this task is.
    @TaskLocal static var current: Puppet?

    private struct State: Sendable {
        var send: Send<Put>?
        var isCancelled = false
        var updates: RequestUpdates<Int>?
        var continuation: CheckedContinuation<Void, any Error>?
    }

    private let state = Locked(State())

    func live(_ send: Send<Put>, _ updates: RequestUpdates<Int>?) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock {
                    $0 = State(
                        send: send, isCancelled: $0.isCancelled, updates: updates, continuation: continuation)
                }
            }
        } onCancel: {
            state.withLock { $0.isCancelled = true }
        }
    }

    var isEntered: Bool { state.withLock { $0.send != nil } }
    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var updates: RequestUpdates<Int>? { state.withLock { $0.updates } }
    var send: Send<Put>? { state.withLock { $0.send } }

    func end(_ result: Result<Void, any Error>) {
        state.withLock { $0.continuation.take() }?.resume(with: result)
    }
}
