import LoopCollections

/// A stop that may be requested at any moment of a program. It ends what the program does at that moment.
final class StopRequest: Sendable {
    private struct State {
        var isMade = false
        var end: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Requests the stop. A second call changes nothing.
    func make() {
        let end = state.withLock { state in
            let end = state.end
            state = State(isMade: true, end: nil)
            return end
        }
        end?()
    }

    /// Sets how to end what the program does from now on. If the stop was requested before, ends it at once.
    func onStop(_ end: @escaping @Sendable () -> Void) {
        let isMade = state.withLock { state in
            if !state.isMade { state.end = end }
            return state.isMade
        }
        if isMade { end() }
    }

    /// Waits for a value, but not beyond the stop.
    /// - Returns: the value, or nil after a stop. Then the body's task is cancelled, but not awaited, because it may ignore that.
    func value<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Locked<CheckedContinuation<Value?, any Error>?>(continuation)
                @Sendable func resume(_ result: Result<Value?, any Error>) {
                    waiter.withLock { $0.take() }?.resume(with: result)
                }
                // This is no child task, because its parent would wait for it, and it may never end.
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
