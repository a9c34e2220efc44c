/// The text forms that diagnostic notation and JSON share.
enum CBORText {
    /// Lower-case hexadecimal digits.
    static func hex(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A string in double quotes, escaped as JSON requires.
    static func quoted(_ text: String) -> String {
        var out: [UInt8] = []
        quote(text.utf8, into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the string in double quotes, escaped as JSON requires. Control characters, and those that change the
    /// direction of writing, are escaped too, so that a terminal does not obey them.
    static func quote(_ text: some Collection<UInt8>, into out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""): out += [UInt8(ascii: "\\"), UInt8(ascii: "\"")]
            case UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), UInt8(ascii: "\\")]
            case 0x0A: out += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case 0x0D: out += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
            case 0x09: out += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
            case 0..<0x20, 0x7F: escape(UInt16(byte), into: &out)
            default:
                out.append(byte)
                if byte & 0xC0 == 0x80 { escapeLast(into: &out) }
            }
        }
        out.append(UInt8(ascii: "\""))
    }

    private static func escape(_ unit: UInt16, into out: inout [UInt8]) {
        out += "\\u".utf8
        for shift in [12, 8, 4, 0] { out.append(digits[Int(unit >> shift & 15)]) }
    }

    /// Escapes the last scalar if it is U+0080…9F, U+202A…2E or U+2066…69.
    private static func escapeLast(into out: inout [UInt8]) {
        let last = out.suffix(3)
        switch (last[last.startIndex], last[last.endIndex - 2], last[last.endIndex - 1]) {
        case (_, 0xC2, let byte) where byte < 0xA0:
            out.removeLast(2)
            escape(UInt16(byte), into: &out)
        case (0xE2, 0x80, let byte) where (0xAA...0xAE).contains(byte):
            out.removeLast(3)
            escape(0x2000 | UInt16(byte & 0x3F), into: &out)
        case (0xE2, 0x81, let byte) where (0xA6...0xA9).contains(byte):
            out.removeLast(3)
            escape(0x2040 | UInt16(byte & 0x3F), into: &out)
        default: break
        }
    }

    /// A finite float in the fewest digits that read back as an equal value, always with a fraction.
    static func float(_ value: Double) -> String {
        let text = value.description
        guard let exponent = text.firstIndex(of: "e") else { return text }
        // Swift writes 1e+300 and 5e-08. A fraction and no padding make it plain JSON that any reader reads as a float.
        let mantissa = text[..<exponent]
        let sign = text[text.index(after: exponent)]
        let power = text[text.index(exponent, offsetBy: 2)...].drop { $0 == "0" }
        return "\(mantissa)\(mantissa.contains(".") ? "" : ".0")e\(sign)\(power)"
    }

    /// −1 − n for an argument n, which may be beyond Int64.
    static func negative(_ argument: UInt64) -> String {
        argument == .max ? "-18446744073709551616" : "-\(argument + 1)"
    }

    /// Base64 without padding, in the alphabet for URLs.
    static func base64url(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count / 3 * 4 + 4)
        var index = 0
        while index < bytes.count {
            let group = bytes[index..<min(index + 3, bytes.count)]
            var bits: UInt32 = 0
            for place in 0..<3 { bits = bits << 8 | (place < group.count ? UInt32(group[index + place]) : 0) }
            for place in 0...group.count { out.append(alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)]) }
            index += 3
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
