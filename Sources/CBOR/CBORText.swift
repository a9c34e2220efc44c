/// The pieces of text that diagnostic notation and JSON share.
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

    /// A string in double quotes, escaped as JSON wants it.
    static func quoted(_ text: String) -> String {
        var out: [UInt8] = []
        quote(text.utf8, into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the string in double quotes, escaped as JSON wants it.
    static func quote(_ text: some Collection<UInt8>, into out: inout [UInt8]) {
        out.reserveCapacity(out.count + text.count + 2)
        out.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""): out += [UInt8(ascii: "\\"), UInt8(ascii: "\"")]
            case UInt8(ascii: "\\"): out += [UInt8(ascii: "\\"), UInt8(ascii: "\\")]
            case 0x0A: out += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case 0x0D: out += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
            case 0x09: out += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
            case 0..<0x20, 0x7F: out += "\\u00".utf8 + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }

    /// A finite float in the shortest digits that read back as the same value, always with a fraction.
    static func float(_ value: Double) -> String {
        let text = value.description
        guard let exponent = text.firstIndex(of: "e") else { return text }
        // Swift writes 1e+300 and 5e-08; a fraction and no padding make it plain JSON that any reader takes for a float.
        let mantissa = text[..<exponent]
        let sign = text[text.index(after: exponent)]
        let power = text[text.index(exponent, offsetBy: 2)...].drop { $0 == "0" }
        return "\(mantissa)\(mantissa.contains(".") ? "" : ".0")e\(sign)\(power)"
    }

    /// −1 − n for an argument n, which may be beyond Int64.
    static func negative(_ argument: UInt64) -> String {
        argument == .max ? "-18446744073709551616" : "-\(argument + 1)"
    }

    /// Base64 by an alphabet; padded with "=" if asked.
    static func base64(_ bytes: [UInt8], isURL: Bool, isPadded: Bool) -> String {
        let last: String = isURL ? "-_" : "+/"
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\(last)".utf8)
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count / 3 * 4 + 4)
        var index = 0
        while index < bytes.count {
            let group = bytes[index..<min(index + 3, bytes.count)]
            var bits: UInt32 = 0
            for place in 0..<3 { bits = bits << 8 | (place < group.count ? UInt32(group[index + place]) : 0) }
            for place in 0...group.count { out.append(alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)]) }
            if isPadded { for _ in group.count..<3 { out.append(UInt8(ascii: "=")) } }
            index += 3
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
