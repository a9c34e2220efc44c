/// The canonical form of an anchor's name: percent-encoded as RFC 3986 section 3.5 requires.
///
/// Names that are equal without percent-encoding are equal in this form. It has no space, `#` or line end.
enum FragmentText {
    /// - Parameter name: the name without percent-encoding.
    static func encode(_ name: String) -> String {
        if name.utf8.allSatisfy(isPlain) { return name }
        return encode(name, isPlain)
    }

    /// A reference that is no URL, as one word.
    static func encode(malformed reference: String) -> String {
        encode(reference) { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "%") }
    }

    static func decode(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func encode(_ text: String, _ isPlain: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Letters, digits and `-._~!$&'()*+,;=:@/?`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        let low: UInt64 = 0xAFFF_FFD2_0000_0000
        let high: UInt64 = 0x47FF_FFFE_87FF_FFFF
        return byte < 0x80 && (byte < 0x40 ? low : high) >> UInt64(byte & 0x3F) & 1 == 1
    }
}
