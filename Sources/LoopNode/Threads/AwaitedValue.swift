internal import LoopCollections

/// A value that comes once, and for which any number of tasks wait.
package final class AwaitedValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [Int: @Sendable (Value) -> Void] = [:]
        var next = 0
    }

    private let state = Locked(State())

    package init() {}

    /// The value, or nil before it has come.
    package var value: Value? { state.withLock { $0.value } }

    /// Sets the value, and resumes those that wait for it. The first value stays.
    package func set(_ value: Value) {
        let waiters = state.withLock { state in
            state.value = state.value ?? value
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for resume in waiters { resume(value) }
    }

    /// Waits for the value, also in a cancelled task. The caller resumes on its own executor, so no other executor has to be free.
    nonisolated(nonsending) func get() async -> Value {
        await withCheckedContinuation { continuation in _ = whenKnown { continuation.resume(returning: $0) } }
    }

    /// Waits for the value. It is nil if the task was cancelled before it came.
    package func getUnlessCancelled() async -> Value? {
        if let value { return value }
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let number = whenKnown { continuation.yield($0) }
        defer { state.withLock { _ = $0.waiters.removeValue(forKey: number) } }
        return await stream.first { _ in true }
    }

    /// Calls the closure with the value: now, or when it comes.
    /// - Returns: the number of the closure among those that wait.
    private func whenKnown(_ resume: @escaping @Sendable (Value) -> Void) -> Int {
        let (value, number) = state.withLock { state in
            state.next += 1
            if state.value == nil { state.waiters[state.next] = resume }
            return (state.value, state.next)
        }
        if let value { resume(value) }
        return number
    }
}
