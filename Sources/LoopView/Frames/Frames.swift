internal import LoopCore
internal import Observation

/// The trees of a view: the present one first, then the latest one after each change of what the view has read.
///
/// However often the state changes, there are at most as many trees as the frame rate allows and the reader takes. A tree
/// always follows the last change. The sequence continues until its task is cancelled.
///
/// ```swift
/// for await tree in Frames(of: page, perSecond: 10) { print(tree.plainText()) }
/// ```
public struct Frames<Content: View>: AsyncSequence, Sendable {
    /// Each element is one drawing: a whole tree.
    public typealias Element = ViewTree
    /// The sequence ends without an error.
    public typealias Failure = Never

    private let view: Content
    private let interval: Duration
    private let now: @Sendable () -> MonotonicTime
    private let sleep: @Sendable (MonotonicTime) async throws -> Void

    /// - Parameters:
    ///   - view: the view to draw.
    ///   - perSecond: the largest number of trees per second, from 1 to 1000.
    ///   - clock: measures the time between frames; a test can pass its own clock.
    public init<C: Clock>(
        of view: Content, perSecond: Int = 30, clock: C = ContinuousClock()
    ) where C.Duration == Duration {
        self.view = view
        interval = .nanoseconds(1_000_000_000 / Swift.min(Swift.max(perSecond, 1), 1000))
        let begin = clock.now
        now = { MonotonicTime.zero + begin.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: begin.advanced(by: $0 - .zero), tolerance: nil) }
    }

    /// Begins an iteration, with a frame rate of its own. The first tree is the view at that moment.
    public func makeAsyncIterator() -> Iterator {
        Iterator(view: Tracked { [view] in ViewTree(view) }, interval: interval, now: now, sleep: sleep)
    }

    /// Iterates over trees.
    public struct Iterator: AsyncIteratorProtocol {
        var view: Tracked<ViewTree>
        /// The least time between two trees.
        let interval: Duration
        let now: @Sendable () -> MonotonicTime
        let sleep: @Sendable (MonotonicTime) async throws -> Void
        /// When the view was last read, or nil before the first time.
        var last: MonotonicTime?

        /// Waits for a change, then for the next frame, and reads the view. The first call does not wait for a change.
        /// - Returns: nil once the task is cancelled.
        public mutating func next() async -> ViewTree? {
            if let last {
                guard await view.changed() else { return nil }
                while now() < last + interval {
                    guard (try? await sleep(last + interval)) != nil else { return nil }
                }
            }
            last = now()
            // Read after the pause, so that the tree has every change that happened during it.
            return view.read()
        }
    }
}

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
