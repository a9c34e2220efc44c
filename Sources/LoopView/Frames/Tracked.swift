internal import Observation

/// What an expression gives, again whenever something observable that it has read has changed.
///
/// Changes between two readings add up to one; the last reading sees the latest of everything. For one task.
struct Tracked<Value: Sendable> {
    private let read: @Sendable () -> Value
    private var changes: AsyncStream<Void>.Iterator?
    private var wake: AsyncStream<Void>.Continuation?

    init(_ read: @escaping @Sendable () -> Value) { self.read = read }

    /// The first reading comes at once, each later one after a change. Nil: the task was cancelled.
    mutating func next() async -> Value? {
        if wake == nil {
            let (stream, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            changes = stream.makeAsyncIterator()
            self.wake = wake
        } else if await changes?.next() == nil {
            return nil
        }
        return withObservationTracking(read) { [wake] in _ = wake?.yield() }
    }
}
