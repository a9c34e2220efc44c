public import Linux
internal import LoopCollections

/// A thread for work that blocks, such as polling sockets or waiting for a child, outside Swift's pool.
public final class NodeThread: Sendable {
    private struct State {
        var isDone = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    /// Starts the body on a new thread.
    ///
    /// - Parameters:
    ///   - name: shown by `top` and debuggers, up to 15 bytes.
    ///   - stackBytes: the limit of its stack, in bytes.
    ///   - body: runs on the thread, which ends with it.
    /// - Throws: if the system cannot start another thread.
    public init(
        _ name: String, stackBytes: Int = 8 << 20, body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let state = Locked(State())
        self.state = state
        try SystemThread.start(name, stackBytes: stackBytes) {
            body()
            let waiters = state.withLock { state in
                state.isDone = true
                let waiters = state.waiters
                state.waiters = []
                return waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Waits until the body has returned. The caller resumes on its own executor, so no other executor has to be free.
    public nonisolated(nonsending) func join() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDone { state.waiters.append(continuation) }
                return state.isDone
            }
            if isDone { continuation.resume() }
        }
    }

    /// Runs the body on a new thread, and waits for its result or error.
    ///
    /// Cancelling the task does not stop the body; post to its mailbox to stop it.
    public static func run<Value: Sendable>(
        _ name: String, stackBytes: Int = 8 << 20, body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let outcome = Locked<Result<Value, any Error>?>(nil)
        let thread = try NodeThread(name, stackBytes: stackBytes) {
            let result = Result { try body() }
            outcome.withLock { $0 = result }
        }
        await thread.join()
        guard let result = outcome.withLock({ $0 }) else { preconditionFailure("thread '\(name)' left no result") }
        return try result.get()
    }

    /// Runs the body of a node on a new thread, and waits for its result or error. The cancellation of the task stops the node.
    /// - Parameters:
    ///   - stop: makes the body return soon.
    ///   - onEnd: called on the thread with the body's result.
    static func run<Value: Sendable>(
        _ name: String, stop: @escaping @Sendable () -> Void,
        onEnd: @escaping @Sendable (Result<Value, any Error>) -> Void, body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await run(name) {
                let result = Result { try body() }
                onEnd(result)
                return try result.get()
            }
        } onCancel: {
            stop()
        }
    }
}
