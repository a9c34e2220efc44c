import LoopCore

/// Changes an input as a hostile writer would: at the places where lengths and numbers stand, and in whole pieces.
struct ByteMutator {
    var random: SeededRandom

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(limit, 1), using: &random) }

    private mutating func range(in bytes: [UInt8]) -> Range<Int> {
        let start = below(bytes.count + 1)
        return start..<min(bytes.count, start + below(17))
    }

    /// One to four changes.
    /// - Parameter other: where a piece may come from.
    mutating func mutated(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
        var bytes = input
        for _ in 0...below(4) { change(&bytes, other) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8], _ other: [UInt8]) {
        switch below(9) {
        case 0: bytes.removeLast(below(bytes.count + 1))
        case 1: bytes.removeSubrange(range(in: bytes))
        case 2:
            let piece = bytes[range(in: bytes)]
            bytes.insert(contentsOf: Array(piece), at: below(bytes.count + 1))
        case 3:
            // Two pieces change places.
            let (a, b) = (range(in: bytes), range(in: bytes))
            guard a.upperBound <= b.lowerBound else { return }
            let (first, second) = (Array(bytes[a]), Array(bytes[b]))
            bytes.replaceSubrange(b, with: first)
            bytes.replaceSubrange(a, with: second)
        case 4, 5: writeExtreme(&bytes)
        case 6:
            // The head of one, the tail of another.
            bytes = Array(bytes[..<below(bytes.count + 1)]) + other[below(other.count + 1)...]
        case 7:
            let piece = other[range(in: other)]
            bytes.insert(contentsOf: Array(piece), at: below(bytes.count + 1))
        default:
            // A head again and again: a nesting bomb, where it opens something.
            let heads: [UInt8] = [0x81, 0xa1, 0xc1, 0x9f, 0x5f, 0x04, 0x00, 0xff, 0x80]
            let bomb = [UInt8](repeating: heads[below(heads.count)], count: 1 << below(11))
            bytes.insert(contentsOf: bomb, at: below(bytes.count + 1))
        }
    }

    /// A number at the edge of its width, in either byte order, in the place of whatever is there.
    private mutating func writeExtreme(_ bytes: inout [UInt8]) {
        let width = [1, 2, 4, 8][below(4)]
        guard bytes.count >= width else { return }
        let bits = UInt64(width * 8)
        let top: UInt64 = width == 8 ? .max : 1 << bits - 1
        let value = [0, 1, 2, top, top - 1, top >> 1, (top >> 1) + 1, top >> 2][below(8)]
        let start = below(bytes.count - width + 1)
        let isBig = below(2) == 0
        for place in 0..<width {
            bytes[start + (isBig ? width - 1 - place : place)] = UInt8(truncatingIfNeeded: value >> UInt64(8 * place))
        }
    }
}
