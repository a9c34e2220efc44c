/// The name of an element or attribute in one machine word: its length, and as many of its first bytes as fit (seven).
///
/// The names that matter here are told apart by that, and comparing a name costs one instruction.
struct Word: Hashable, ExpressibleByStringLiteral {
    private let packed: UInt64

    /// A name that ends with a zero byte.
    init(_ name: UnsafePointer<UInt8>?) {
        var packed: UInt64 = 0
        var count: UInt64 = 0
        if let name {
            while name[Int(count)] != 0 {
                if count < 7 { packed |= UInt64(name[Int(count)]) << (8 * count) }
                count += 1
            }
        }
        self.packed = packed | min(count, 255) << 56
    }

    @inline(__always)
    init(stringLiteral name: StaticString) {
        var packed: UInt64 = 0
        let count = name.utf8CodeUnitCount
        // Written out, so that the compiler turns a literal into a number.
        if count > 0 { packed |= UInt64(name.utf8Start[0]) }
        if count > 1 { packed |= UInt64(name.utf8Start[1]) << 8 }
        if count > 2 { packed |= UInt64(name.utf8Start[2]) << 16 }
        if count > 3 { packed |= UInt64(name.utf8Start[3]) << 24 }
        if count > 4 { packed |= UInt64(name.utf8Start[4]) << 32 }
        if count > 5 { packed |= UInt64(name.utf8Start[5]) << 40 }
        if count > 6 { packed |= UInt64(name.utf8Start[6]) << 48 }
        self.packed = packed | UInt64(count) << 56
    }
}
