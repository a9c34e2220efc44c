import LoopWire
import Testing

@Suite struct `The quick hash` {
    private let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 37) }

    @Test func `is another one for each length, each changed bit and each pair of swapped words`() {
        var seen: Set<UInt64> = []
        for count in 0...bytes.count { seen.insert(StableHash.quick(bytes[..<count])) }
        #expect(seen.count == bytes.count + 1)
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                seen.insert(StableHash.quick(changed))
            }
        }
        #expect(seen.count == bytes.count + 1 + 8 * bytes.count)
        for first in stride(from: 0, to: 192, by: 8) {
            for second in stride(from: first + 8, to: 192, by: 8) {
                var swapped = bytes
                swapped.replaceSubrange(first..<first + 8, with: bytes[second..<second + 8])
                swapped.replaceSubrange(second..<second + 8, with: bytes[first..<first + 8])
                seen.insert(StableHash.quick(swapped))
            }
        }
        #expect(seen.count == bytes.count + 1 + 8 * bytes.count + 24 * 23 / 2)
    }

    @Test func `is of the bytes, wherever they are`() {
        let slice = ([0, 0, 0] + bytes)[3...]
        #expect(StableHash.quick(slice) == StableHash.quick(bytes))
    }

    @Test func `tells zeros by their number`() {
        #expect(StableHash.quick([0] as [UInt8]) != StableHash.quick([0, 0]))
        #expect(
            StableHash.quick([UInt8](repeating: 0, count: 64)) != StableHash.quick([UInt8](repeating: 0, count: 96)))
    }
}
