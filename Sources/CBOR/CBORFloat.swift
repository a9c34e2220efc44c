/// IEEE 754 half precision in plain bit operations, and the choice of the shortest float that keeps a value.
enum CBORFloat {
    /// The only bit pattern for NaN (RFC 8949, section 4.2.2).
    static let nanBits: UInt16 = 0x7E00

    /// The value of a half-precision bit pattern.
    static func value(half bits: UInt16) -> Double {
        let sign = UInt64(bits & 0x8000) << 48
        let exponent = UInt64(bits >> 10 & 0x1F)
        let fraction = UInt64(bits & 0x3FF)
        switch exponent {
        case 0: return Double(bitPattern: sign | (Double(fraction) * 0x1p-24).bitPattern)
        case 31: return fraction == 0 ? Double(bitPattern: sign | Double.infinity.bitPattern) : .nan
        default: return Double(bitPattern: sign | (exponent + 1008) << 52 | fraction << 42)
        }
    }

    /// The bit pattern of exactly this value, or nil if there is none, as for NaN.
    static func half(exactly value: Float) -> UInt16? {
        let bits = value.bitPattern
        let sign = UInt16(truncatingIfNeeded: bits >> 16) & 0x8000
        let exponent = Int(bits >> 23 & 0xFF) - 127
        let fraction = bits & 0x7F_FFFF
        switch exponent {
        case 128:
            return fraction == 0 ? sign | 0x7C00 : nil
        case -14...15:
            guard fraction & 0x1FFF == 0 else { return nil }
            return sign | UInt16(exponent + 15) << 10 | UInt16(fraction >> 13)
        case -24 ..< -14:
            // A subnormal half: the leading one becomes explicit and moves right.
            let shift = UInt32(-exponent - 1)
            let significand = fraction | 0x80_0000
            guard significand & (1 << shift - 1) == 0 else { return nil }
            return sign | UInt16(significand >> shift)
        case -127:
            return fraction == 0 ? sign : nil
        default:
            return nil
        }
    }
}
