import LoopCollections

/// A value that becomes known once. Any number of tasks may wait for it, and each may be cancelled.
final class Fact<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [Int: AsyncStream<Value>.Continuation] = [:]
        var next = 0
    }

    private let state = Locked(State())

    var value: Value? { state.withLock { $0.value } }

    /// Sets the value. Only the first call counts.
    func set(_ value: Value) {
        let waiting = state.withLock { state in
            guard state.value == nil else { return [AsyncStream<Value>.Continuation]() }
            state.value = value
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for one in waiting {
            one.yield(value)
            one.finish()
        }
    }

    /// The value as soon as it is known, or nil if the task was cancelled before.
    func wait() async -> Value? {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let (known, id) = state.withLock { state -> (Value?, Int) in
            state.next += 1
            if state.value == nil { state.waiting[state.next] = continuation }
            return (state.value, state.next)
        }
        if let known { return known }
        defer { state.withLock { _ = $0.waiting.removeValue(forKey: id) } }
        return await stream.first { _ in true }
    }
}
