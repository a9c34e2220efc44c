import Linux

/// A thread for work that blocks, such as polling sockets or waiting for a child, outside Swift's pool.
package final class NodeThread: Sendable {
    private let end = AwaitedValue<Void>()

    /// Starts the body on a new thread.
    ///
    /// - Parameters:
    ///   - name: shown by `top` and debuggers, up to 15 bytes.
    ///   - stackBytes: the limit of its stack, in bytes.
    ///   - body: runs on the thread, which ends with it.
    /// - Throws: if the system cannot start another thread.
    package init(
        _ name: String, stackBytes: Int = 8 << 20, body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        try SystemThread.start(name, stackBytes: stackBytes) { [end] in
            body()
            end.set(())
        }
    }

    /// Waits until the body has returned. The caller resumes on its own executor, so no other executor has to be free.
    package nonisolated(nonsending) func join() async { await end.get() }

    /// Runs the body on a new thread, and waits for its result or error.
    ///
    /// Cancelling the task does not stop the body; post to its mailbox to stop it.
    package static func run<Value: Sendable>(
        _ name: String, stackBytes: Int = 8 << 20, body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let result = AwaitedValue<Result<Value, any Error>>()
        _ = try NodeThread(name, stackBytes: stackBytes) { result.set(Result { try body() }) }
        return try await result.get().get()
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
