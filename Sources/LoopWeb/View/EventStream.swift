internal import HTTPServer
internal import LoopLock

/// What one browser hears, until it or the server ends it. Its connection rests while there is nothing to say.
final class EventStream: HTTPSource {
    private struct State {
        var pending: [UInt8] = []
        var isClosed = false
        var isResting = false
    }

    /// A browser that is further behind than this starts over.
    private static var pendingBytesMax: Int { 4 << 20 }

    private let connection: HTTPConnection
    private let state = Locked(State())
    private let ended: @Sendable (EventStream) -> Void

    /// - Parameter ended: called when the connection is gone.
    init(_ connection: HTTPConnection, ended: @escaping @Sendable (EventStream) -> Void) {
        self.connection = connection
        self.ended = ended
    }

    /// Queues something to say, for `wake` to get it said.
    func queue(_ event: String) {
        state.withLock { state in
            if state.isClosed { return }
            state.pending += Array(event.utf8)
            // Its browser connects again, and gets everything.
            if state.pending.count > Self.pendingBytesMax {
                state.pending = []
                state.isClosed = true
            }
        }
    }

    /// Ends the stream, and the connection's rest.
    func close() {
        state.withLock { $0.isClosed = true }
        wake()
    }

    /// Gets said what is queued. Never waits; called without a lock.
    func wake() {
        let wasResting = state.withLock { state in
            defer { state.isResting = false }
            return state.isResting
        }
        if wasResting { connection.wake() }
    }

    func connectionEnded() { ended(self) }

    func next(atMost count: Int) -> ArraySlice<UInt8>? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                if state.isClosed { return nil }
                // Under the lock, so that it is not woken before it rests.
                state.isResting = true
                connection.rest()
                return []
            }
            let part = state.pending.prefix(count)
            state.pending.removeFirst(part.count)
            return part
        }
    }
}
