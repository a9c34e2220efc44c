import LoopWire

/// The last messages of a run, for people.
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

    init(limit: Int) { self.limit = limit }

    mutating func note(_ line: Line, at time: UInt64) {
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
