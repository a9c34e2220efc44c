internal import LoopCollections

/// A value that comes once, and for which any number of tasks wait.
final class AwaitedValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Locked(State())

    /// The value, or nil before it has come.
    var value: Value? { state.withLock { $0.value } }

    /// Sets the value, and resumes those that wait for it. The first value stays.
    func set(_ value: Value) {
        let waiters = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            state.value = state.value ?? value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Waits for the value. The caller resumes on its own executor, so no other executor has to be free.
    nonisolated(nonsending) func get() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state in
                if state.value == nil { state.waiters.append(continuation) }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
