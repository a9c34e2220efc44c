/// The fixed-width name of a loop in topics and headers: the first 8 bytes of a 64-bit FNV-1a hash of its name.
public struct LoopID: Hashable, Sendable, CustomStringConvertible {
    public var value: UInt64

    public init(value: UInt64) { self.value = value }

    public init(name: String) { value = StableHash.fnv1a(name.utf8) }

    public var description: String { hexadecimal(value) }
}

/// Hashes that are the same in every process, unlike `Hashable`'s.
public enum StableHash {
    /// FNV-1a, 64 bits (Fowler, Noll and Vo).
    public static func fnv1a(_ bytes: some Sequence<UInt8>, seed: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }

    /// The same, of bytes in one place: a nanosecond for each.
    public static func fnv1a(_ bytes: [UInt8], seed: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        fnv1a(bytes[...], seed: seed)
    }

    /// The same, of bytes in one place: a nanosecond for each.
    public static func fnv1a(_ bytes: ArraySlice<UInt8>, seed: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        var hash = seed
        bytes.withUnsafeBufferPointer { bytes in
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        }
        return hash
    }
}

/// 16 hexadecimal digits.
public func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
