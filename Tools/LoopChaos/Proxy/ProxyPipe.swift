import LoopCore

/// Bytes on their way in one direction: they leave in order, and none before its time. No sockets, no clock.
struct ProxyPipe: Equatable {
    private struct Chunk: Equatable {
        var leavesAt: MonotonicTime
        var bytes: ArraySlice<UInt8>
    }

    private var chunks: [Chunk] = []
    private(set) var byteCount = 0
    /// The sender has ended; the end follows the last byte.
    private(set) var hasEnded = false

    /// The largest number of waiting bytes; beyond it nothing more is read, which slows the sender down.
    static let bytesMax = 1 << 20

    var hasSpace: Bool { byteCount < Self.bytesMax && !hasEnded }
    var isDone: Bool { hasEnded && chunks.isEmpty }

    /// Takes what has arrived; it leaves no earlier than what came before it.
    mutating func take(_ bytes: ArraySlice<UInt8>, at now: MonotonicTime, delay: Duration) {
        let leavesAt = max(now + delay, chunks.last?.leavesAt ?? now)
        chunks.append(Chunk(leavesAt: leavesAt, bytes: bytes))
        byteCount += bytes.count
    }

    mutating func end() { hasEnded = true }

    /// When there is something to send; nil: there is nothing.
    var nextAt: MonotonicTime? { chunks.first?.leavesAt }

    /// What may leave now, as one piece of what arrived at once.
    func due(at now: MonotonicTime) -> ArraySlice<UInt8>? {
        guard let first = chunks.first, first.leavesAt <= now else { return nil }
        return first.bytes
    }

    /// A number of the due bytes have left.
    mutating func sent(_ count: Int) {
        guard var first = chunks.first else { return }
        byteCount -= count
        first.bytes = first.bytes.dropFirst(count)
        if first.bytes.isEmpty { chunks.removeFirst() } else { chunks[0] = first }
    }
}
