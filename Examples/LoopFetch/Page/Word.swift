// Unsafe: the bytes of a literal live as long as the program.

/// The name of an element or attribute: its length, and as many of its first bytes as fit (fifteen).
///
/// This is enough to distinguish the names that matter here. Comparing two names costs two instructions.
struct Word: Hashable, ExpressibleByStringLiteral {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init() {}

    /// Appends a byte. Letters become lower case.
    @inline(__always)
    mutating func append(_ byte: UInt8) {
        let isCapital = byte &- UInt8(ascii: "A") < 26
        let lower = UInt64(isCapital ? byte | 0x20 : byte)
        let count = high >> 56
        if count < 8 { low |= lower << (8 * count) } else if count < 15 { high |= lower << (8 * (count - 8)) }
        if count < 255 { high += 1 << 56 }
    }

    @inline(__always)
    init(stringLiteral name: StaticString) {
        // Written out, so that the compiler turns a literal into two numbers.
        @inline(__always)
        func byte(_ index: Int) -> UInt64 {
            unsafe index < name.utf8CodeUnitCount ? UInt64(name.utf8Start[index]) << (8 * (UInt64(index) & 7)) : 0
        }
        low = byte(0) | byte(1) | byte(2) | byte(3) | byte(4) | byte(5) | byte(6) | byte(7)
        high = byte(8) | byte(9) | byte(10) | byte(11) | byte(12) | byte(13) | byte(14)
        high |= UInt64(name.utf8CodeUnitCount) << 56
    }
}
