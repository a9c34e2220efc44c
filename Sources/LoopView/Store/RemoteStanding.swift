internal import LoopCollections

/// What a remote store knows, and the readers of its states.
struct RemoteStanding<State: Sendable>: Sendable {
    typealias Reader = AsyncStream<State>.Continuation

    var state: State
    var connection = StoreConnection.connecting
    private var readers: [UInt64: Reader] = [:]
    private var nextToken: UInt64 = 0
    /// Whether the stream of updates has ended. No readers are added after that.
    private var isOver = false

    init(state: State) { self.state = state }

    /// Takes an update.
    /// - Returns: the state, the readers to send it to (none without a new state), and whether the connection has changed.
    mutating func take(
        _ state: State?, _ connection: StoreConnection
    ) -> (state: State, readers: [Reader], isConnection: Bool) {
        let isNews = connection != self.connection
        self.connection = connection
        guard let state else { return (self.state, [], isNews) }
        self.state = state
        return (state, Array(readers.values), isNews)
    }

    /// Ends the streams of all readers, after the stream of updates has ended.
    /// - Returns: whether the connection has changed, and the readers to finish.
    mutating func end() -> (isNews: Bool, readers: [Reader]) {
        isOver = true
        defer { readers = [:] }
        if case .ended = connection { return (false, Array(readers.values)) }
        connection = .ended(text: "")
        return (true, Array(readers.values))
    }

    /// The present state, then every later one.
    static func subscribe(
        to standing: Locked<RemoteStanding>, _ buffering: Reader.BufferingPolicy
    ) -> AsyncStream<State> {
        let (stream, reader) = AsyncStream<State>.makeStream(bufferingPolicy: buffering)
        let token = standing.withLock { standing -> UInt64? in
            // The stream has no reader yet, so nothing resumes here.
            reader.yield(standing.state)
            if standing.isOver { return nil }
            standing.nextToken += 1
            standing.readers[standing.nextToken] = reader
            return standing.nextToken
        }
        guard let token else {
            reader.finish()
            return stream
        }
        reader.onTermination = { _ in standing.withLock { $0.readers[token] = nil } }
        return stream
    }
}
