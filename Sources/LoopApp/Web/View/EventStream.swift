internal import LoopNode
internal import LoopCollections

/// The events for one browser, until it or the server ends the stream. The connection rests while no event waits.
final class EventStream: HTTPSource {
    private struct State {
        var pending: [UInt8] = []
        var isClosed = false
        var isResting = false
    }

    /// If more bytes than this are queued, the stream ends, and the browser connects again.
    private static var pendingBytesMax: Int { 4 << 20 }

    private let connection: HTTPConnection
    private let state = Locked(State())
    private let ended: @Sendable (EventStream) -> Void

    /// - Parameter ended: called when the connection is gone.
    init(_ connection: HTTPConnection, ended: @escaping @Sendable (EventStream) -> Void) {
        self.connection = connection
        self.ended = ended
    }

    /// Queues an event. `wake` gets it sent.
    func queue(_ event: String) {
        state.withLock { state in
            if state.isClosed { return }
            state.pending += Array(event.utf8)
            // The browser connects again, and gets the whole view.
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

    /// Gets the queued events sent. Never waits. Must be called without a lock.
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
                // Done under the lock, so that the connection is not woken before it rests.
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
