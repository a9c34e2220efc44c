/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Whether a byte is a letter, a digit, `-`, `.`, `_` or `~`, which mean the same with and without encoding.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// The bytes as text, with `%XX` for each byte that is not plain. By default the unreserved bytes are plain.
    package static func encode(
        _ bytes: some Sequence<UInt8>, plain isPlain: (UInt8) -> Bool = PercentEncoding.isUnreserved
    ) -> String {
        var output: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) { output.append(byte) } else { append(byte, to: &output) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a byte as `%XX`.
    package static func append(_ byte: UInt8, to output: inout [UInt8]) {
        output += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    /// The byte of the three characters at an index, or nil if they are not `%` and two hexadecimal digits.
    package static func byte(at index: Int, of bytes: ArraySlice<UInt8>) -> UInt8? {
        guard index + 2 < bytes.endIndex, bytes[index] == UInt8(ascii: "%"), let high = value(bytes[index + 1]),
            let low = value(bytes[index + 2])
        else { return nil }
        return UInt8(high << 4 | low)
    }

    private static func value(_ digit: UInt8) -> Int? { Character(Unicode.Scalar(digit)).hexDigitValue }

    /// The bytes without their encoding. A `%` without two hexadecimal digits means itself.
    package static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let decoded = byte(at: index, of: bytes)
            output.append(decoded ?? bytes[index])
            index += decoded == nil ? 1 : 3
        }
        return output
    }

    /// The text without its encoding. Invalid UTF-8 becomes U+FFFD.
    package static func decode(_ text: some StringProtocol) -> String {
        String(decoding: decode(Array(text.utf8)[...]), as: UTF8.self)
    }
}
