import LoopCore
package import LoopWire

/// A state that is being fetched, part by part in their order. Some parts are requested in advance, so that none waits for a
/// request.
///
/// It uses memory for what has come, whatever size a peer announces.
package struct StateFetch: Sendable {
    /// The transfer of the parts.
    let id: UInt64
    let seq: Seq
    /// How many chunks have come.
    private(set) var chunksCount = 0
    /// How many bytes have come.
    package private(set) var byteCount = 0
    /// The bytes of the chunk that is coming.
    private var bytes: [UInt8] = []
    /// The part that comes next.
    private(set) var next: UInt64 = 0
    /// The first part that was not requested.
    private var asked: UInt64 = 1

    /// How many parts are requested in advance.
    private static var aheadMax: UInt64 { 8 }

    package init(_ part: StatePart) { (id, seq) = (part.transfer, part.seq) }

    /// Takes the next part.
    /// - Returns: the chunk that ends with it, or nil if its chunk continues.
    package mutating func take(_ part: StatePart) -> [UInt8]? {
        next += 1
        byteCount += part.bytes.count
        if bytes.isEmpty { bytes = part.bytes } else { bytes += part.bytes }
        guard part.end != .nothing else { return nil }
        defer { bytes = [] }
        chunksCount += 1
        return bytes
    }

    /// The parts that are to be requested now. They count as requested from here on.
    mutating func ahead() -> Range<UInt64> {
        asked = max(asked, next)
        let range = asked..<max(asked, next + Self.aheadMax)
        asked = range.upperBound
        return range
    }

    /// Forgets the requests, which may be lost, so that the parts are requested again.
    mutating func askAgain() { asked = next }
}
