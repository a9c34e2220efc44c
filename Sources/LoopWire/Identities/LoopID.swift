internal import LoopCollections

/// The fixed-width name of a loop in topics and headers: a 64-bit FNV-1a hash of its name.
package struct LoopID: Hashable, Sendable, CustomStringConvertible {
    /// The hash of the loop's name; 0 in the messages of a tool that knows no loop.
    package var value: UInt64

    /// Creates a loop ID from its number on the wire.
    package init(value: UInt64) { self.value = value }

    /// Creates the ID of the loop with this name, which is hashed as UTF-8.
    package init(name: String) { value = StableHash.fnv1a(name.utf8) }

    /// 16 hexadecimal digits, for errors and logs.
    package var description: String { hexadecimal(value) }
}

/// Hashes that are equal in every process, unlike `Hashable`'s.
package enum StableHash {
    /// FNV-1a, 64 bits (Fowler, Noll and Vo).
    package static func fnv1a(_ bytes: some Sequence<UInt8>, seed: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        var hash = seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }

    /// FNV-1a of contiguous bytes, at about a nanosecond per byte.
    package static func fnv1a(_ bytes: [UInt8], seed: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        fnv1a(bytes[...], seed: seed)
    }

    /// FNV-1a of contiguous bytes, at about a nanosecond per byte.
    package static func fnv1a(_ bytes: ArraySlice<UInt8>, seed: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        fnv1a(bytes.span, seed: seed)
    }

    /// FNV-1a of contiguous bytes, at about a nanosecond per byte.
    package static func fnv1a(_ bytes: Span<UInt8>, seed: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        var hash = seed
        BackgroundWork.steps(bytes) { step in
            for place in step.indices { hash = (hash ^ UInt64(step[place])) &* 0x0000_0100_0000_01b3 }
        }
        return hash
    }
}

extension StableHash {
    /// A hash that distinguishes bytes, eight at a time: a few times faster than FNV-1a, and equally weak against an
    /// adversary. It uses the multiply-and-fold of wyhash (Wang Yi).
    package static func quick(_ bytes: [UInt8], seed: UInt64 = 0x9e37_79b9_7f4a_7c15) -> UInt64 {
        quick(bytes.span, seed: seed)
    }

    /// The quick hash of a part of an array.
    package static func quick(_ bytes: ArraySlice<UInt8>, seed: UInt64 = 0x9e37_79b9_7f4a_7c15) -> UInt64 {
        quick(bytes.span, seed: seed)
    }

    /// Hashes four words at a time in independent chains, which a processor executes in parallel.
    private static func quick(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        func word(_ offset: Int) -> UInt64 { bytes.number(at: offset) }
        var hash = fold(seed ^ UInt64(bytes.count), 0xa076_1d64_78bd_642f)
        var offset = 0
        if bytes.count >= 32 {
            var (a, b, c, d) = (hash, hash &+ 1, hash &+ 2, hash &+ 3)
            while bytes.count - offset >= 32 {
                a = fold(a ^ word(offset), 0xe703_7ed1_a0b4_28db)
                b = fold(b ^ word(offset + 8), 0x8ebc_6af0_9c88_c6e3)
                c = fold(c ^ word(offset + 16), 0x5899_65cc_7537_4cc3)
                d = fold(d ^ word(offset + 24), 0xa076_1d64_78bd_642f)
                offset += 32
            }
            hash = fold(a ^ b, c &- d) ^ a &+ d
        }
        while bytes.count - offset >= 8 {
            hash = fold(hash ^ word(offset), 0xe703_7ed1_a0b4_28db)
            offset += 8
        }
        var tail: UInt64 = 0
        for index in offset..<bytes.count { tail = tail << 8 | UInt64(bytes[index]) }
        return fold(hash ^ tail, 0x8ebc_6af0_9c88_c6e3)
    }

    /// Combines both halves of the product, so that every bit of one operand affects half of the result's bits.
    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}

/// 16 hexadecimal digits.
package func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
