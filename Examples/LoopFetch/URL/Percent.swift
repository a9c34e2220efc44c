/// Percent-encoding (RFC 3986 section 2.1).
enum Percent {
    /// A part of a URL; each has its own characters that stand for themselves.
    enum Part {
        case userInfo, path, query
    }

    /// The byte that three characters stand for; nil where they are no `%` and two hexadecimal digits.
    static func decoded(_ bytes: ArraySlice<UInt8>, at index: Int) -> UInt8? {
        guard index + 2 < bytes.endIndex, bytes[index] == UInt8(ascii: "%"), let high = hex(bytes[index + 1]),
            let low = hex(bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    /// The text without its percent-encoding; bytes that are then no UTF-8 become U+FFFD.
    static func decode(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let byte = decoded(bytes[...], at: index) {
                output.append(byte)
                index += 3
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    static func append(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "%"))
        output.append(digit(byte >> 4))
        output.append(digit(byte & 15))
    }

    /// Letters, digits, `-`, `.`, `_`, `~`: the same with and without encoding.
    static func isUnreserved(_ byte: UInt8) -> Bool { has(byte, unreserved) }

    /// Whether the byte stands for itself in this part. What RFC 3986 does not allow but browsers send stays as well.
    static func isAllowed(_ byte: UInt8, in part: Part) -> Bool {
        switch part {
        case .path: has(byte, path)
        case .query: has(byte, query)
        case .userInfo: has(byte, userInfo)
        }
    }

    /// Whether a host may have this byte: all of ASCII except what the WHATWG standard forbids.
    static func isHost(_ byte: UInt8) -> Bool { has(byte, host) }

    private typealias Table = (UInt64, UInt64)

    private static let unreserved = table("-._~", lettersAndDigits: true)
    private static let path = table("-._~!$&'()*+,;=:@%[]^|/", lettersAndDigits: true)
    private static let query = table("-._~!$&()*+,;=:@%[]^|/?\\`{}", lettersAndDigits: true)
    private static let userInfo = table("-._~!$&'()*+,;=:%", lettersAndDigits: true)
    private static let host = table("-._~!$&'()*+,;=`{}\"", lettersAndDigits: true)

    private static func has(_ byte: UInt8, _ table: Table) -> Bool {
        if byte < 64 { return table.0 >> UInt64(byte) & 1 == 1 }
        return byte < 128 && table.1 >> UInt64(byte - 64) & 1 == 1
    }

    private static func table(_ characters: String, lettersAndDigits: Bool) -> Table {
        var table: Table = (0, 0)
        func add(_ byte: UInt8) {
            if byte < 64 { table.0 |= 1 << UInt64(byte) } else { table.1 |= 1 << UInt64(byte - 64) }
        }
        for byte in characters.utf8 { add(byte) }
        if lettersAndDigits {
            for byte in UInt8(ascii: "a")...UInt8(ascii: "z") { add(byte) }
            for byte in UInt8(ascii: "A")...UInt8(ascii: "Z") { add(byte) }
            for byte in UInt8(ascii: "0")...UInt8(ascii: "9") { add(byte) }
        }
        return table
    }

    private static func hex(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
