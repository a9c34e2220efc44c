internal import Linux
internal import LoopCollections

/// Writes lines to a descriptor on a separate thread, so that no thread that logs waits for the reader.
///
/// A reader that stalls or has gone costs lines, which are counted. SIGPIPE is blocked in this thread alone, so that the rest
/// of the process handles the signal as it chooses.
final class LogWriter: Sendable {
    private struct State {
        var buffer = LogBuffer()
        /// Whether the thread has taken lines and not yet written all of them.
        var isWriting = false
        var hasThread = false
        /// How many batches of lines the thread has finished writing.
        var roundsCount = 0
        /// The batch during which a caller of `flush` waited in vain.
        var stuckRound: Int?

        var isDone: Bool { buffer.isEmpty && !isWriting }
    }

    private let descriptor: Int32
    private let state = Monitor(State())

    /// - Parameter descriptor: must stay open as long as the process runs.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// How many lines could not be written.
    var droppedCount: UInt64 { state.withLock { $0.buffer.droppedCount } }

    /// Queues a text for writing. Never waits.
    func write(_ text: String) {
        let needsThread = state.withLock { state in
            state.buffer.append(text)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread { start() } else { state.broadcast() }
    }

    /// Waits until everything that was queued is written.
    /// - Returns: whether it is written: false if the time is up, or at once if an earlier call has waited in vain for a reader
    ///   that is still stuck.
    @discardableResult
    func flush(within limit: Duration) -> Bool {
        let round = state.withLock { state -> Int? in
            state.isDone || state.stuckRound == state.roundsCount ? nil : state.roundsCount
        }
        guard let round else { return state.withLock { $0.isDone } }
        if state.wait(until: { $0.isDone }, timeout: limit) { return true }
        state.withLock { state in
            if state.roundsCount == round { state.stuckRound = round }
        }
        return false
    }

    private func start() {
        do {
            _ = try NodeThread("loop-log", stackBytes: 256 << 10) { self.run() }
        } catch {
            // The next line starts the thread again.
            state.withLock { $0.hasThread = false }
        }
    }

    private func run() {
        Signals.blockAll()
        while true {
            // No other thread takes lines.
            state.wait(until: { !$0.buffer.isEmpty })
            let lines = state.withLock { state in
                state.isWriting = true
                return state.buffer.takeAll()
            }
            for line in lines where !write(whole: line) { state.withLock { $0.buffer.noteLost() } }
            state.withLock { state in
                state.isWriting = false
                state.roundsCount += 1
            }
            state.broadcast()
        }
    }

    /// - Returns: false if it cannot be written, because the reader has gone or the disk is full.
    private func write(whole text: String) -> Bool {
        do throws(SystemError) {
            try SystemCall.write(Array(text.utf8), to: descriptor)
            return true
        } catch {
            return false
        }
    }
}
