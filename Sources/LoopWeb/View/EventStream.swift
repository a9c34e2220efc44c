internal import CHTTPD
internal import Glibc
internal import LoopLock

/// What one browser hears, until it or the server ends it. Its connection rests while there is nothing to say.
final class EventStream: @unchecked Sendable {
    private struct State {
        var pending: [UInt8] = []
        var isClosed = false
        var isResting = false
    }

    /// A browser that is further behind than this begins anew.
    private static var pendingBytesMax: Int { 4 << 20 }

    private let connection: WebConnection
    private let state = Locked(State())
    private let ended: @Sendable (EventStream) -> Void

    /// - Parameter ended: called when the connection is gone.
    init(_ connection: WebConnection, ended: @escaping @Sendable (EventStream) -> Void) {
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

    /// The response that reads this stream, and keeps it until the connection is gone.
    func response() -> OpaquePointer? {
        MHD_create_response_from_callback(
            UInt64.max, 16 << 10,
            { stream, _, buffer, room in
                EventStream.of(stream).read(into: UnsafeMutableRawBufferPointer(start: buffer, count: room))
            },
            Unmanaged.passRetained(self).toOpaque(),
            { pointer in
                guard let pointer else { return }
                let stream = Unmanaged<EventStream>.fromOpaque(pointer).takeRetainedValue()
                stream.ended(stream)
            })
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> EventStream {
        guard let pointer else { preconditionFailure("libmicrohttpd has lost the stream that it was given") }
        return Unmanaged<EventStream>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                if state.isClosed { return -1 }
                // Under the lock, so that nobody wakes it before it rests.
                state.isResting = true
                connection.rest()
                return 0
            }
            let count = min(buffer.count, state.pending.count)
            state.pending.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            state.pending.removeFirst(count)
            return count
        }
    }
}
