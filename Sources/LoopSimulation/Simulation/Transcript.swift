import LoopWire

/// The last messages of a run, for people, and a hash of all messages, which distinguishes two runs.
package struct Transcript: Sendable {
    enum Line: Sendable {
        case toPeer(Int, PeerFrame, isLost: Bool)
        case toReducer(Int, ToReducer)
        case batch(Int, Batch)
        case word(String)
    }

    private var kept: [(time: UInt64, line: Line)] = []
    private var next = 0
    private let limit: Int
    /// The hash of every message's bytes, in order.
    package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    package private(set) var count = 0

    private let loop: LoopID

    init(limit: Int, loop: LoopID) {
        self.limit = limit
        self.loop = loop
    }

    mutating func note(_ line: Line, at time: UInt64) {
        count += 1
        hash =
            switch line {
            case .word(let text): StableHash.fnv1a(text.utf8, seed: hash)
            case .toPeer(_, let frame, _): StableHash.fnv1a(frame.bytes(topic: nil), seed: hash)
            case .toReducer(_, let message): StableHash.fnv1a(message.bytes(loop: loop), seed: hash)
            case .batch(_, let batch): StableHash.fnv1a(batch.bytes, seed: hash)
            }
        hash = (hash ^ time) &* 0x0000_0100_0000_01b3
        if kept.count < limit {
            kept.append((time, line))
        } else {
            kept[next] = (time, line)
            next = (next + 1) % limit
        }
    }

    /// The last messages, the oldest first.
    var lines: [(time: UInt64, line: Line)] { Array(kept[next...] + kept[..<next]) }

    static func seconds(_ nanoseconds: UInt64) -> String {
        let micros = nanoseconds / 1000 % 1_000_000
        let digits = String(micros)
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 6 - digits.count) + digits
    }
}
