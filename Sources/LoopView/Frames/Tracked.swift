internal import Observation

/// The values of an expression: one now, then one after each change of an observable value that it reads. For one task.
///
/// Several changes between two readings count as one; the last reading sees the latest values.
struct Tracked<Value: Sendable> {
    private let expression: @Sendable () -> Value
    private var changes: AsyncStream<Void>.Iterator
    private let wake: AsyncStream<Void>.Continuation

    init(_ expression: @escaping @Sendable () -> Value) {
        self.expression = expression
        let (stream, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        changes = stream.makeAsyncIterator()
        self.wake = wake
    }

    /// The present value.
    func read() -> Value {
        let log = ReadingLog()
        let value = ReadingLog.$current.withValue(log) {
            withObservationTracking(expression) { [wake] in _ = wake.yield() }
        }
        if log.isOutdated { wake.yield() }
        return value
    }

    /// Waits until something has changed since the last reading, or returns at once if it already has.
    /// - Returns: false if the task was cancelled.
    mutating func changed() async -> Bool { await changes.next() != nil }
}
