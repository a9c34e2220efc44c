import LoopLock

/// A stop that may be asked for at any moment of a program. It ends whatever the program does then.
final class StopRequest: Sendable {
    private struct State {
        var isMade = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Asks for the stop. A second time changes nothing.
    func make() {
        let end = state.withLock { state in
            let end = state.end
            state = State(isMade: true, end: nil)
            return end
        }
        end?()
    }

    /// Says how to end what the program does from now on. Where the stop has been asked for before, that is done at once.
    func onStop(_ end: @escaping @Sendable () -> Void) {
        let isMade = state.withLock { state in
            if !state.isMade { state.end = end }
            return state.isMade
        }
        if isMade { end() }
    }

    /// Waits for a value, but not beyond the stop.
    /// - Returns: the value, or nil at a stop. The body's task is cancelled then. It is not waited for, since it may not listen.
    func value<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Locked<CheckedContinuation<Value?, any Error>?>(continuation)
                @Sendable func resume(_ result: Result<Value?, any Error>) {
                    waiter.withLock { $0.take() }?.resume(with: result)
                }
                // Not a child: its parent would wait for it, and it may never end.
                let task = Task {
                    do { resume(.success(try await body())) } catch { resume(.failure(error)) }
                }
                onStop {
                    task.cancel()
                    resume(.success(nil))
                }
            }
        } onCancel: {
            make()
        }
    }
}
