internal import LoopCollections

/// The states that bindings follow, for any number of readers. Each iteration begins with the latest state, and ends with
/// the feedback.
public struct BoundStates<State: Sendable>: AsyncSequence, Sendable {
    /// Each element is one state of the loop.
    public typealias Element = State
    /// The sequence ends without an error.
    public typealias Failure = Never

    private struct Readers: Sendable {
        var latest: State?
        var hasEnded = false
        var streams: [UInt64: AsyncStream<State>.Continuation] = [:]
        var nextToken: UInt64 = 0
    }

    private let readers = Locked(Readers())

    init() {}

    /// Adds a reader. It begins with the latest state, if there is one, and gets every later one.
    public func makeAsyncIterator() -> AsyncStream<State>.Iterator {
        let (stream, continuation) = AsyncStream<State>.makeStream()
        let token = readers.withLock { readers -> UInt64? in
            // Nothing waits for the stream yet, so yielding and finishing resume nothing here.
            guard !readers.hasEnded else {
                continuation.finish()
                return nil
            }
            if let latest = readers.latest { continuation.yield(latest) }
            readers.nextToken += 1
            readers.streams[readers.nextToken] = continuation
            return readers.nextToken
        }
        if let token {
            continuation.onTermination = { [readers] _ in readers.withLock { $0.streams[token] = nil } }
        }
        return stream.makeAsyncIterator()
    }

    /// Passes a state to every reader. Called for one state at a time.
    func tell(_ state: State) {
        let streams = readers.withLock { readers in
            readers.latest = state
            return Array(readers.streams.values)
        }
        for stream in streams { stream.yield(state) }
    }

    /// Ends every iteration.
    func finish() {
        let streams = readers.withLock { readers in
            readers.hasEnded = true
            defer { readers.streams = [:] }
            return Array(readers.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
