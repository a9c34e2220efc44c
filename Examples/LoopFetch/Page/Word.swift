// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

/// The name of an element or attribute in one machine word: its length, and as many of its first bytes as fit (seven).
///
/// The names that matter here are told apart by that, and comparing a name costs one instruction.
struct Word: Hashable, ExpressibleByStringLiteral {
    private let packed: UInt64

    /// A name that ends with a zero byte.
    init(_ name: UnsafePointer<UInt8>?) {
        var builder = Builder()
        if var rest = unsafe name {
            while unsafe rest.pointee != 0 {
                unsafe builder.append(rest.pointee)
                unsafe rest += 1
            }
        }
        self = builder.word
    }

    private init(packed: UInt64) { self.packed = packed }

    /// Puts a name together, byte after byte, with its letters in lower case.
    struct Builder {
        private var packed: UInt64 = 0
        private(set) var count: UInt64 = 0

        @inline(__always)
        mutating func append(_ byte: UInt8) {
            let isCapital = byte &- UInt8(ascii: "A") < 26
            if count < 7 { packed |= UInt64(isCapital ? byte | 0x20 : byte) << (8 * count) }
            count += 1
        }

        var word: Word { Word(packed: packed | min(count, 255) << 56) }
    }

    /// Whether a name of at most seven bytes is the beginning of this one.
    func hasPrefix(_ other: Word) -> Bool {
        let mask = UInt64(1) << (8 * (other.packed >> 56)) - 1
        return packed & mask == other.packed & mask
    }

    @inline(__always)
    init(stringLiteral name: StaticString) {
        var packed: UInt64 = 0
        let count = name.utf8CodeUnitCount
        // Written out, so that the compiler turns a literal into a number.
        if count > 0 { unsafe packed |= UInt64(name.utf8Start[0]) }
        if count > 1 { unsafe packed |= UInt64(name.utf8Start[1]) << 8 }
        if count > 2 { unsafe packed |= UInt64(name.utf8Start[2]) << 16 }
        if count > 3 { unsafe packed |= UInt64(name.utf8Start[3]) << 24 }
        if count > 4 { unsafe packed |= UInt64(name.utf8Start[4]) << 32 }
        if count > 5 { unsafe packed |= UInt64(name.utf8Start[5]) << 40 }
        if count > 6 { unsafe packed |= UInt64(name.utf8Start[6]) << 48 }
        self.packed = packed | UInt64(count) << 56
    }
}

extension UInt8 {
    /// Whether it is one of a plain name's: a letter, a digit, `:`, `-`, `_` or `.`.
    @inline(__always)
    var isInName: Bool {
        // - . 0...9 : A...Z _ a...z
        let low: UInt64 = 0x07FF_6000_0000_0000
        let high: UInt64 = 0x07FF_FFFE_87FF_FFFE
        return self < 0x80 && (self < 0x40 ? low : high) >> UInt64(self & 0x3F) & 1 == 1
    }
}
