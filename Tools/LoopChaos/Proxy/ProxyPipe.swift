import LoopCore

/// Queued bytes of one direction. They leave in order, and none before its time. No sockets, no clock.
struct ProxyPipe: Equatable {
    private struct Chunk: Equatable {
        var leavesAt: MonotonicTime
        var bytes: ArraySlice<UInt8>
    }

    private var chunks: [Chunk] = []
    private(set) var byteCount = 0
    /// Whether the sender has ended. The end follows the last byte.
    private(set) var hasEnded = false

    /// The largest number of queued bytes. Beyond it nothing more is read, which slows the sender down.
    static let bytesMax = 1 << 20

    var hasSpace: Bool { byteCount < Self.bytesMax && !hasEnded }
    var isDone: Bool { hasEnded && chunks.isEmpty }

    /// Queues received bytes. They leave no earlier than those before them.
    mutating func take(_ bytes: ArraySlice<UInt8>, at now: MonotonicTime, delay: Duration) {
        let leavesAt = max(now + delay, chunks.last?.leavesAt ?? now)
        chunks.append(Chunk(leavesAt: leavesAt, bytes: bytes))
        byteCount += bytes.count
    }

    mutating func end() { hasEnded = true }

    /// When the next bytes may leave, or nil if there are none.
    var nextAt: MonotonicTime? { chunks.first?.leavesAt }

    /// Bytes that may leave now, in one piece as received.
    func due(at now: MonotonicTime) -> ArraySlice<UInt8>? {
        guard let first = chunks.first, first.leavesAt <= now else { return nil }
        return first.bytes
    }

    /// Removes a number of due bytes that have left.
    mutating func sent(_ count: Int) {
        guard var first = chunks.first else { return }
        byteCount -= count
        first.bytes = first.bytes.dropFirst(count)
        if first.bytes.isEmpty { chunks.removeFirst() } else { chunks[0] = first }
    }
}
