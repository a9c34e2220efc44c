internal import Observation

/// What an expression gives, again whenever something observable that it has read has changed. For one task.
///
/// Changes between two readings add up to one; the last reading sees the latest of everything.
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

    /// What it gives now.
    func read() -> Value {
        let log = ReadingLog()
        let value = ReadingLog.$current.withValue(log) {
            withObservationTracking(expression) { [wake] in _ = wake.yield() }
        }
        if log.isOutdated { wake.yield() }
        return value
    }

    /// Waits until something has changed since the last reading, at once where it has already. False: the task was
    /// cancelled.
    mutating func changed() async -> Bool { await changes.next() != nil }
}
